import { readFile } from "node:fs/promises";
import { parseStrictJson } from "@slipway/kernel/strict-json";
import { type AgentConfig, agentConfig } from "@slipway/protocol/agent/agent-config";
import { check } from "@slipway/protocol/schema/check";
import { ConfigInvalid, ConfigUnreadable } from "./settings/errors.ts";

/** Reads `agent.json`. */
export async function readConfig(path: string): Promise<AgentConfig> {
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    throw ConfigUnreadable({ path }, { cause });
  });
  const checked = check(agentConfig, parseStrictJson(text, path));
  if (!checked.ok) throw ConfigInvalid({ path, problems: checked.problems });
  return checked.value;
}
