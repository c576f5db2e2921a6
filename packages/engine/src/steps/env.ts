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
 * What all agents are told, with where they keep blobs unless that is configured: beside them, where the Director puts
 * and gets blobs over HTTPS. Old agents need one to be named.
 */
export const agentEnvOf = (configured: JsonObject = {}): JsonObject => ({
  ...configured,
  ...blobstoresIn(configured, LOCAL),
});

const LOCAL: JsonObject = {
  blobstores: [{ provider: "local", options: { blobstore_path: "/var/vcap/micro_bosh/data/cache" } }],
};

/** Of several envs, the first that names one: a list that is empty or null names none. */
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
