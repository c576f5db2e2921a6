import type { AgentMessageName } from "@slipway/protocol/agent/messages";
import type { ActionTable } from "./action.ts";

/** Generations of agents before add_persistent_disk. */
export type AgentGeneration = "v1" | "first v2";

/**
 * Messages that each generation lacks. Slipway's own messages stay, because tests of an old agent inspect it with them.
 */
const CAME_LATER: Readonly<Record<AgentGeneration, readonly AgentMessageName[]>> = {
  v1: [
    "add_persistent_disk",
    "remove_persistent_disk",
    "update_persistent_disk",
    "add_dynamic_disk",
    "remove_dynamic_disk",
    "info",
  ],
  "first v2": ["add_persistent_disk", "remove_persistent_disk", "add_dynamic_disk", "remove_dynamic_disk"],
};

/** The messages that an agent of this generation answers; undefined: all. For tests of old stemcells. */
export function actionsOf(all: ActionTable, generation: AgentGeneration | undefined): ActionTable {
  if (generation === undefined) return all;
  const later: readonly string[] = CAME_LATER[generation];
  const known: ActionTable = Object.fromEntries(
    Object.entries(all).filter(([name]) => !later.includes(name)),
  );
  const { mount_disk: mount } = all;
  if (generation !== "v1" || mount === undefined) return known;
  // Its mount_disk takes a cid and nothing else.
  return { ...known, mount_disk: ({ diskCid }, call) => mount({ diskCid }, call) };
}
