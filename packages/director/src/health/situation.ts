import { messageTrail } from "@slipway/kernel/errors";
import { findAttribute, RESURRECTION_PAUSED } from "../store/attributes.ts";
import { type ConfigRecord, listConfigs } from "../store/configs.ts";
import { deploymentsOf } from "../store/deployments.ts";
import { lockedDeployments, openResurrections, watchedInstances } from "../store/health.ts";
import { unseenSinceRestore } from "../store/restores.ts";
import type { Db } from "../store/schema.ts";
import { type Rules, type RulesText, rulesOf } from "./rules.ts";

/** State of the store when a round begins. */
export type Read = Awaited<ReturnType<typeof readSituation>>;

export async function readSituation(db: Db, onError: (error: unknown) => void) {
  // Locks first: what a task that ends meanwhile has made is then seen, with the lock it made it under.
  const locked = await lockedDeployments(db);
  const open = await openResurrections(db);
  const [watched, paused, configs, unseen] = await Promise.all([
    watchedInstances(db),
    findAttribute(db, RESURRECTION_PAUSED),
    listConfigs(db, { type: "resurrection", limit: 1 }),
    unseenSinceRestore(db),
  ]);
  const rules = rulesIn(await Promise.all(configs.map((config) => textOf(db, config))), onError);
  const restored = new Set(unseen.map(({ deployment }) => deployment));
  return { locked, open, watched, paused: paused === "true", rules, restored };
}

/** A team's config is for its own deployments, whatever it names. */
const textOf = async (db: Db, { content, team }: ConfigRecord): Promise<RulesText> => ({
  content,
  only: team === null ? undefined : await deploymentsOf(db, team),
});

/** Returns the rules, or undefined if they cannot be read. No VM is replaced then, since the rules may forbid it. */
function rulesIn(configs: readonly RulesText[], onError: (error: unknown) => void): Rules | undefined {
  try {
    return rulesOf(configs);
  } catch (error) {
    onError(
      new Error(`the resurrection config cannot be read, and no VM is replaced: ${messageTrail(error)}`),
    );
    return undefined;
  }
}
