import { check } from "@slipway/protocol/schema/check";
import { integer, type JsonObject, open } from "@slipway/protocol/schema/json";
import { doc } from "@slipway/protocol/schema/marks";
import * as v from "valibot";
import { BadProperties } from "../errors.ts";

const fields = {
  cpu: v.optional(
    doc(v.pipe(v.number(), v.minValue(0.01, "cpu must be at least 0.01")), "processors, also 0.5"),
  ),
  ram: v.optional(doc(integer(6, "ram"), "memory, MiB; there is no swap beside it")),
  ephemeral_disk_size: v.optional(
    doc(integer(0, "ephemeral_disk_size"), "MiB; not enforced, containers share the engine's disk"),
  ),
  pids: v.optional(doc(integer(1, "pids"), "most processes and threads")),
  ports: v.optional(
    doc(
      v.array(
        v.pipe(
          v.string(),
          v.regex(/^((\d{1,3}\.){3}\d{1,3}:)?\d{1,5}:\d{1,5}(\/(tcp|udp))?$/, "a port is [IP:]HOST:VM[/udp]"),
        ),
      ),
      "ports of the engine's host that lead into the VM: `8080:80`, `127.0.0.1:53:53/udp`",
    ),
  ),
  capabilities: v.optional(
    doc(
      v.array(v.pipe(v.string(), v.regex(/^[A-Z_]+$/, "a capability is like NET_RAW"))),
      "beside those every VM has",
    ),
  ),
  init: v.optional(
    doc(v.boolean(), "whether the engine's init is the first process; false for stemcells with systemd"),
  ),
};

/** A VM type's `cloud_properties`. What is left out has no limit. */
const vmProperties = open(fields);
export type VmProperties = v.InferOutput<typeof vmProperties>;

const KNOWN = Object.keys(fields);

export function readVmProperties(given: JsonObject): {
  readonly properties: VmProperties;
  /** Names that no code reads: likely misspelled, or another cloud's. */
  readonly unknown: readonly string[];
} {
  const checked = check(vmProperties, given, "cloud_properties");
  if (!checked.ok) throw BadProperties({ what: "the VM", problems: checked.problems });
  return { properties: checked.value, unknown: Object.keys(given).filter((name) => !KNOWN.includes(name)) };
}
