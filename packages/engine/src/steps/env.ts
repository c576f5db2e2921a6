import type { Json, JsonObject } from "@slipway/protocol/schema/json";
import { canonical } from "../manifest/canonical.ts";

const objectOf = (value: Json | undefined): JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};

/** `director`, `director-deployment`, `director-deployment-group` and the parts: what cloud tags group VMs by. */
export function groupNames(names: readonly string[]): { readonly group: string; readonly groups: string[] } {
  const parts = names.map(canonical);
  const [director = "", deployment = "", group = ""] = parts;
  const all = parts.join("-");
  return {
    group: all,
    groups: [...parts, `${director}-${deployment}`, `${deployment}-${group}`, all],
  };
}

/**
 * Returns the env of all agents, with the default blobstore unless one is configured: local to the agent, where the Director puts
 * and gets blobs over HTTPS. Old agents need a named blobstore.
 */
export const agentEnvOf = (configured: JsonObject = {}): JsonObject => ({
  ...configured,
  ...blobstoresIn(configured, LOCAL),
});

const LOCAL: JsonObject = {
  blobstores: [{ provider: "local", options: { blobstore_path: "/var/vcap/micro_bosh/data/cache" } }],
};

/** Returns the blobstores of the first env that names any: an empty list or null does not count. */
function blobstoresIn(...envs: readonly JsonObject[]): JsonObject {
  const named = envs.find(({ blobstores }) => Array.isArray(blobstores) && blobstores.length > 0);
  return named === undefined ? {} : { blobstores: named.blobstores as Json };
}

/** The `env` of create_vm: the Director's own under the group's, then what only the Director can say. */
export function createVmEnv(
  vm: { readonly env: JsonObject; readonly tags: JsonObject; readonly names: readonly string[] },
  introduction: JsonObject,
  agentEnvBosh: JsonObject,
): JsonObject {
  const own = objectOf(vm.env.bosh);
  const bosh: JsonObject = {
    ...agentEnvBosh,
    ...own,
    ...introduction,
    ...blobstoresIn(introduction, own, agentEnvBosh),
    ...groupNames(vm.names),
  };
  return { ...vm.env, bosh: { ...bosh, tags: { ...objectOf(bosh.tags), ...vm.tags } } };
}
