import * as v from "valibot";
import { vmCid } from "../ids.ts";
import type { Schema } from "../schema/marks.ts";
import { disks } from "../settings/disks.ts";
import { networks } from "../settings/networks.ts";
import type { ApiVersion } from "./api-version.ts";
import type { Capabilities } from "./capabilities.ts";

/** Returns the schema of a draft result that the CPI announces; undefined if the CPI returns the shipped result. */
export function draftResult(
  method: string,
  version: ApiVersion,
  capabilities: Capabilities | undefined,
): Schema | undefined {
  if (version < 2 || capabilities === undefined) return undefined;
  switch (method) {
    case "create_vm":
      return CREATE_VM[capabilities.create_vm_result ?? "networks"];
    case "attach_disk":
      return capabilities.attach_disk_result === "disks" ? disks : undefined;
    case "detach_disk":
      return capabilities.detach_disk_returns_disks === true ? disks : undefined;
    default:
      return undefined;
  }
}

const CREATE_VM: Readonly<Record<NonNullable<Capabilities["create_vm_result"]>, Schema | undefined>> = {
  networks: undefined,
  disks: v.strictTuple([vmCid, disks]),
  "networks+disks": v.strictTuple([vmCid, networks, disks]),
};
