import { messageTrail } from "@slipway/kernel/errors";
import { AgentRefused, AgentSilent, WrongAgent } from "../agents/agent.ts";
import { CpiRefused } from "../clouds/cloud.ts";
import type { IntentRecord } from "../journal/journal.ts";
import type { Stray } from "../journal/writes.ts";
import { display, slug } from "../model/names.ts";
import type { InstanceRecord } from "../model/records.ts";
import { aboutInstance, type FlowContext } from "../steps/context.ts";
import { IntentUnreadable } from "../steps/errors.ts";
import type { AnyStep, Begun, Settled } from "../steps/step.ts";
import { stepNamed } from "../steps/steps.ts";
import { StepFailed } from "./errors.ts";
import { Ledger } from "./ledger.ts";

export interface SettleOptions {
  /** What cannot be found out is given up: noted as a stray where something may be left behind. */
  readonly giveUp?: boolean;
  /** Default: the deployment's. */
  readonly scope?: string;
}

/**
 * Finds out what became of every step that was begun and whose outcome nobody has recorded: after a crash, a lost CPI
 * or a cancelled task. Afterwards the records say what is, and can be planned from.
 */
export async function settleOpenIntents(context: FlowContext, options: SettleOptions = {}): Promise<number> {
  const open = await context.journal.openIntents(options.scope ?? context.deployment);
  for (const intent of open) await settleOne(intent, context, options);
  return open.length;
}

type Found = Settled | { readonly how: "undone" };

async function settleOne(record: IntentRecord, context: FlowContext, options: SettleOptions): Promise<void> {
  const step = stepNamed(record.step);
  if (step === undefined) throw IntentUnreadable({ step: record.step, why: "there is no such step" });
  const instance = record.instance === null ? undefined : await context.journal.instance(record.instance);
  const ledger = new Ledger(context.journal, instance);
  // Written by a version that journaled it: the plan takes it again.
  const begun = isJournaled(step) ? step.resume(record.version, record.intent) : undefined;
  const found: Found =
    begun === undefined
      ? { how: "undone" }
      : record.restored
        ? givenUp(begun, context)
        : await findOut(record, begun, instance, context, options);
  ledger.close(record);
  if (found.how === "stray") ledger.write((writes) => writes.addStray(found.stray));
  if (found.how === "undone" && begun?.invalidate !== undefined) ledger.write(begun.invalidate);
  if (found.how === "done") {
    ledger.write(found.outcome.record);
    const { event } = found.outcome;
    if (event !== undefined)
      ledger.event({
        ...event,
        ends: true,
        ...(context.deployment !== "" && { deployment: context.deployment }),
        ...(instance !== undefined && { instance: slug(instance) }),
      });
  }
  await ledger.flush();
}

/** Done again, it might undo what was done after the backup. What it may have made is shown; the rest is planned anew. */
function givenUp(begun: Begun, context: FlowContext): Found {
  const stray = begun.stray(context);
  if (stray === undefined) return { how: "undone" };
  return { how: "stray", stray: { ...stray, why: `${stray.why} (the Director was restored from a backup)` } };
}

const isJournaled = ({ kind }: AnyStep): boolean => kind === "call" || kind === "create";

async function findOut(
  record: IntentRecord,
  begun: Begun,
  instance: InstanceRecord | undefined,
  context: FlowContext,
  { giveUp = false }: SettleOptions,
): Promise<Found> {
  const name = instance === undefined ? (record.instance ?? record.scope) : display(instance);
  context.debug(`settling ${record.step} of ${name}`);
  try {
    return await begun.settle(aboutInstance(context, instance));
  } catch (error) {
    context.signal.throwIfAborted();
    // An answer is an outcome: it was not done. Planning from the records goes on from there.
    const answered =
      error instanceof CpiRefused ||
      error instanceof AgentRefused ||
      error instanceof AgentSilent ||
      error instanceof WrongAgent;
    if (!answered && !giveUp) throw new StepFailed(name, `${record.step} begun earlier`, error);
    context.debug(`${record.step} was not done: ${messageTrail(error)}`);
    const stray = answered ? undefined : begun.stray(context);
    return stray === undefined ? { how: "undone" } : { how: "stray", stray: because(stray, error) };
  }
}

const because = (stray: Stray, error: unknown): Stray => ({
  ...stray,
  why: `${stray.why} (${messageTrail(error)})`,
});
