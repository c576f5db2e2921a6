import { type Provisioning, provisioning } from "@slipway/cpi-sdk/provisioning";
import { check } from "@slipway/protocol/schema/check";
import { type JsonObject, open } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import { BadProperties } from "../errors.ts";

const diskProperties = open({ provisioning: v.optional(provisioning) });

/** Reads the keys of a disk type's `cloud_properties` that this CPI knows. Disks of other clouds have more. */
export function readDiskProperties(given: JsonObject): { readonly provisioning?: Provisioning | undefined } {
  const checked = check(diskProperties, given, "cloud_properties");
  if (!checked.ok) throw BadProperties({ what: "the disk", problems: checked.problems });
  return checked.value;
}
