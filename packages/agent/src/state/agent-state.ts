import { BadJson, parseStrictJson } from "@slipway/kernel/strict-json";
import { readState, type StateTools, writeState } from "./state-file.ts";

/** `agent_state.json`: what is set up once in the life of a VM. */
export interface SetupState {
  hostsConfigured(): Promise<boolean>;
  setHostsConfigured(): Promise<void>;
}

export function fileAgentState(path: string, tools: StateTools): SetupState {
  const load = async () => (await readState(path, parse, tools)) ?? {};
  return {
    hostsConfigured: async () => (await load()).Linux?.hosts_configured === true,
    setHostsConfigured: async () => {
      const before = await load();
      await writeState(
        path,
        JSON.stringify({ ...before, Linux: { ...before.Linux, hosts_configured: true } }),
      );
    },
  };
}

interface Document {
  readonly Linux?: { readonly hosts_configured?: unknown };
}

function parse(text: string): Document {
  const value = parseStrictJson(text, "agent_state.json");
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw BadJson({ what: "agent_state.json", why: "it is not an object" });
  return value;
}
