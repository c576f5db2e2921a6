import { messageTrail } from "@slipway/kernel/errors";
import { findAttribute, RESURRECTION_PAUSED } from "../store/attributes.ts";
import { listConfigs } from "../store/configs.ts";
import { lockedDeployments, openResurrections, watchedInstances } from "../store/health.ts";
import type { Db } from "../store/schema.ts";
import { type Rules, rulesOf } from "./rules.ts";

/** What the store knows when a round begins. */
export type Read = Awaited<ReturnType<typeof readSituation>>;

export async function readSituation(db: Db, onError: (error: unknown) => void) {
  // Locks first: what a task that ends meanwhile has made is then seen, with the lock it made it under.
  const locked = await lockedDeployments(db);
  const open = await openResurrections(db);
  const [watched, paused, configs] = await Promise.all([
    watchedInstances(db),
    findAttribute(db, RESURRECTION_PAUSED),
    listConfigs(db, { type: "resurrection", limit: 1 }),
  ]);
  return { locked, open, watched, paused: paused === "true", rules: rulesIn(configs, onError) };
}

/** Undefined: what they were to forbid is not known, so nobody is touched. */
function rulesIn(
  configs: readonly { readonly content: string }[],
  onError: (error: unknown) => void,
): Rules | undefined {
  try {
    return rulesOf(configs.map(({ content }) => content));
  } catch (error) {
    onError(
      new Error(`the resurrection config cannot be read, and no VM is replaced: ${messageTrail(error)}`),
    );
    return undefined;
  }
}
