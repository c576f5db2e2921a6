import { createHmac } from "node:crypto";
import { join } from "node:path";
import type { Random } from "@slipway/kernel/random";
import type { AgentId } from "@slipway/protocol/ids";
import { readOwnFile, writeOwnFile } from "../pki/pair-file.ts";
import { SecretUnreadable } from "./errors.ts";

/** Secret from which the passwords of all agents are derived, so that no password is stored. */
export interface AgentSecret {
  passwordFor(agentId: AgentId): string;
  /** For blobs, where agents get them from the Director. */
  blobPasswordFor(agentId: AgentId): string;
  /** Shows that two secrets are the same one, and nothing else of them. */
  readonly proof: string;
}

/** The user name in every agent's URL. */
export const AGENT_USER = "mbus";

const BYTES = 32;

/** The secret of a state directory, made at the first start. A damaged one is an error: agents know its passwords. */
export async function openAgentSecret(options: {
  readonly dir: string;
  readonly random: Random;
}): Promise<AgentSecret> {
  const path = join(options.dir, "agent-secret");
  const found = await readOwnFile(path);
  if (found !== undefined) {
    const secret = found.trim();
    if (!/^[0-9a-f]+$/.test(secret) || secret.length !== BYTES * 2)
      throw SecretUnreadable({ path, why: `it should hold ${BYTES * 2} hexadecimal digits` });
    return agentSecret(secret);
  }
  const made = options.random.hex(BYTES);
  await writeOwnFile(path, `${made}\n`);
  return agentSecret(made);
}

export function agentSecret(hex: string): AgentSecret {
  const derived = (text: string) => createHmac("sha256", Buffer.from(hex, "hex")).update(text).digest("hex");
  return {
    passwordFor: derived,
    // No agent's id has a blank.
    blobPasswordFor: (agentId) => derived(`blobs ${agentId}`),
    proof: derived("proof of the secret"),
  };
}
