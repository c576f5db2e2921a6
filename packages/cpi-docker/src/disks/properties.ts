import { type Provisioning, provisioning } from "@slipway/cpi-sdk/provisioning";
import { check } from "@slipway/protocol/schema/check";
import { type JsonObject, open } from "@slipway/protocol/schema/json";
import { doc } from "@slipway/protocol/schema/marks";
import * as v from "valibot";
import { BadProperties } from "../errors.ts";

const fields = {
  type: v.optional(
    doc(
      v.picklist(["file", "device"], "type must be file or device"),
      "a file in the volume, or a whole block device of `docker.devices`; `file` when left out",
    ),
  ),
  provisioning: v.optional(
    doc(
      provisioning,
      "of a file: `preallocated` has all its space from the start, `thin` takes it as it is written to; `docker.provisioning` when left out",
    ),
  ),
};

/** A disk type's `cloud_properties`. */
const diskProperties = open(fields);
export type DiskType = "file" | "device";

const KNOWN = Object.keys(fields);

export function readDiskProperties(given: JsonObject): {
  readonly type: DiskType | undefined;
  readonly provisioning: Provisioning | undefined;
  /** Names that no code reads: likely misspelled, or another cloud's. */
  readonly unknown: readonly string[];
} {
  const checked = check(diskProperties, given, "cloud_properties");
  if (!checked.ok) throw BadProperties({ what: "the disk", problems: checked.problems });
  return {
    type: checked.value.type,
    provisioning: checked.value.provisioning,
    unknown: Object.keys(given).filter((name) => !KNOWN.includes(name)),
  };
}
