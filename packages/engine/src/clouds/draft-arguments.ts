import type { ApiVersion } from "@slipway/protocol/cpi/api-version";
import type { Capabilities } from "@slipway/protocol/cpi/capabilities";
import { isObject, type Json, type JsonObject } from "@slipway/protocol/schema/json";
import type { Disks } from "@slipway/protocol/settings/disks";
import type { CreateVmArguments } from "./cloud.ts";

/** Agreed version and capabilities, which decide the shape of a call. */
export interface Terms {
  readonly apiVersion: ApiVersion;
  readonly capabilities: Capabilities;
}

/** Drafts are spoken from version 2 on, and only with a CPI that announces them. */
const speaks = (terms: Terms, flag: keyof Capabilities): boolean =>
  terms.apiVersion >= 2 && terms.capabilities[flag] === true;

export function createVmArguments(args: CreateVmArguments, terms: Terms): readonly unknown[] {
  const { agentId, stemcellCid, cloudProperties, networks, diskCids, env } = args;
  if (!speaks(terms, "bootstrap_settings_arg"))
    return [agentId, stemcellCid, cloudProperties, networks, diskCids, env];
  return [stemcellCid, cloudProperties, bootstrapSettings(agentId, env), networks, diskCids, env];
}

/** The part of the agent's settings that the Director knows before there is a VM. */
function bootstrapSettings(agentId: string, env: JsonObject): JsonObject {
  const bosh = objectAt(env, "bosh");
  const mbus = first(objectAt(bosh, "mbus").urls);
  const blobstore = first(bosh.blobstores);
  return {
    agent_id: agentId,
    ...(mbus !== undefined && { mbus }),
    ...(bosh.ntp !== undefined && { ntp: bosh.ntp }),
    ...(blobstore !== undefined && { blobstore }),
  };
}

const first = (list: Json | undefined): Json | undefined =>
  Array.isArray(list) ? (list[0] as Json) : undefined;

function objectAt(object: JsonObject, key: string): JsonObject {
  const value = object[key];
  return isObject(value) ? (value as JsonObject) : {};
}

/** `[vm, disk]`, and the disks of the VM for those who take them. */
export function diskArguments(
  method: "attach_disk" | "detach_disk",
  pair: readonly [vm: string, disk: string],
  disks: Disks | undefined,
  terms: Terms,
): readonly unknown[] {
  const flag = method === "attach_disk" ? "attach_disk_takes_disks" : "detach_disk_returns_disks";
  return speaks(terms, flag) ? [...pair, disks ?? {}] : pair;
}
