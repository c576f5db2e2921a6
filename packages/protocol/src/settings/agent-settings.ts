import * as v from "valibot";
import { agentId } from "../ids.ts";
import { open } from "../schema/json.ts";
import { doc, secret } from "../schema/marks.ts";
import { checkWithoutNulls } from "../schema/without-nulls.ts";
import { type Disks, disks } from "./disks.ts";
import { blobstore, env, mbus } from "./env.ts";
import { type Networks, networks } from "./networks.ts";

/**
 * The one settings document: the same in the registry, in user-data, on a config drive and in the agent's cache. Null
 * stands for a missing field everywhere: CPIs in Go write it for every list, map and hint that they do not fill.
 */
export const agentSettings = open({
  agent_id: doc(agentId, "also the host name of the VM"),
  vm: v.nullish(open({ name: v.nullish(v.string()) })),
  mbus: v.nullish(doc(secret(v.string()), "`nats://...` or `https://user:password@host:port`")),
  ntp: v.nullish(v.array(v.string())),
  blobstore: v.nullish(blobstore),
  networks: v.nullish(networks),
  disks: v.nullish(disks),
  env: v.nullish(env),
});
export type AgentSettings = v.InferOutput<typeof agentSettings>;

/** Checks settings and hands them back without their nulls. */
export const checkAgentSettings = (value: unknown) => checkWithoutNulls(agentSettings, value, "settings");

/** Contents of any `update_settings`; a changed mbus or blobstores restarts the agent. */
export const updateSettings = open({
  trusted_certs: v.nullish(v.string()),
  disk_associations: v.nullish(v.array(open({ name: v.string(), cid: v.string() }))),
  blobstores: v.nullish(v.array(blobstore)),
  mbus: v.nullish(mbus),
  disks: v.nullish(doc(disks, "a draft's: all disks of the VM, with their hints; upstream agents ignore it")),
});
export type UpdateSettings = v.InferOutput<typeof updateSettings>;

/**
 * The draft way of composing settings: what the Director knows before the VM exists, then what the CPI made of
 * networks and disks. Disks already recorded stay unless the CPI says otherwise.
 */
export function mergeSettings<
  const B extends { readonly agent_id: string; readonly disks?: Disks | null | undefined },
>(bootstrap: B, newNetworks: Networks, newDisks: Disks): B & { networks: Networks; disks: Disks } {
  const before = bootstrap.disks ?? {};
  return {
    ...bootstrap,
    networks: newNetworks,
    disks: { ...before, ...newDisks, persistent: { ...before.persistent, ...newDisks.persistent } },
  };
}
