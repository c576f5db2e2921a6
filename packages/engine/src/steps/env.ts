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
  blobstores: [{ provider: "local", options: { blobstore_path: "/var/vcap/micro_bosh/data/cache" } }],
  ...configured,
});

/** The `env` of create_vm: the Director's own under the group's, then what only the Director can say. */
export function createVmEnv(
  vm: { readonly env: JsonObject; readonly tags: JsonObject; readonly names: readonly string[] },
  introduction: JsonObject,
  agentEnvBosh: JsonObject,
): JsonObject {
  const bosh: JsonObject = {
    ...agentEnvBosh,
    ...objectOf(vm.env.bosh),
    ...introduction,
    ...groupNames(vm.names),
  };
  return { ...vm.env, bosh: { ...bosh, tags: { ...objectOf(bosh.tags), ...vm.tags } } };
}
