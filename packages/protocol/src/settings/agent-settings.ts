import * as v from "valibot";
import { agentId } from "../ids.ts";
import { check } from "../schema/check.ts";
import { open } from "../schema/json.ts";
import { doc, secret } from "../schema/marks.ts";
import { type Disks, disks } from "./disks.ts";
import { blobstore, env, mbus } from "./env.ts";
import { type Networks, networks } from "./networks.ts";

/**
 * The one settings document: the same in the registry, in user-data, on a config drive and in the agent's cache.
 */
export const agentSettings = open({
  agent_id: doc(agentId, "also the host name of the VM"),
  vm: v.optional(v.nullable(open({ name: v.optional(v.string()) }))),
  mbus: v.optional(doc(secret(v.string()), "`nats://...` or `https://user:password@host:port`")),
  ntp: v.optional(v.nullable(v.array(v.string()))),
  blobstore: v.optional(v.nullable(blobstore)),
  networks: v.optional(v.nullable(networks)),
  disks: v.optional(v.nullable(disks)),
  env: v.optional(v.nullable(env)),
});
export type AgentSettings = v.InferOutput<typeof agentSettings>;

export const checkAgentSettings = (value: unknown) => check(agentSettings, value, "settings");

/** What every `update_settings` may carry; a changed mbus or blobstores restarts the agent. */
export const updateSettings = open({
  trusted_certs: v.optional(v.string()),
  disk_associations: v.optional(v.nullable(v.array(open({ name: v.string(), cid: v.string() })))),
  blobstores: v.optional(v.nullable(v.array(blobstore))),
  mbus: v.optional(v.nullable(mbus)),
  disks: v.optional(
    doc(v.nullable(disks), "a draft's: all disks of the VM, with their hints; upstream agents ignore it"),
  ),
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
