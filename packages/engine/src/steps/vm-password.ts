import { createHash } from "node:crypto";
import type { AgentId } from "@slipway/protocol/ids";
import type { JsonObject } from "@slipway/protocol/schema/json";

/**
 * A hash of the form that `/etc/shadow` has, of no password that anybody knows: it is computed from the agent's id, not
 * from a password. So a repeat of create_vm has the same one, and none is kept.
 */
export function unknownPassword(agentId: AgentId): string {
  const digest = (of: string) =>
    createHash("sha512").update(`${of} ${agentId}`).digest("base64").replaceAll("+", ".").replaceAll("=", "");
  return `$6$${digest("salt").slice(0, 16)}$${digest("hash")}`;
}

/** The `env` of create_vm, with one in place of the password that all VMs of a stemcell have; one that is given stays. */
export function withPassword(env: JsonObject, agentId: AgentId): JsonObject {
  const bosh = env.bosh as JsonObject | undefined;
  const given = typeof bosh?.password === "string" && bosh.password !== "";
  return given ? env : { ...env, bosh: { ...bosh, password: unknownPassword(agentId) } };
}
