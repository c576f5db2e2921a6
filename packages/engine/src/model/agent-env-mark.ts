import { createHash } from "node:crypto";
import type { AgentId } from "@slipway/protocol/ids";
import type { JsonObject } from "@slipway/protocol/schema/json";
import { fingerprint } from "../documents/tree.ts";

/** Digits of the mark: enough to detect a change, too few to test guesses of a password. */
const DIGITS = 8;

/** Tells whether a VM was made with this env of all agents, and nothing of what is in it. */
export const agentEnvMark = (agentEnv: JsonObject, agentId: AgentId): string =>
  createHash("sha256")
    .update(`${agentId} ${fingerprint(agentEnv)}`)
    .digest("hex")
    .slice(0, DIGITS);
