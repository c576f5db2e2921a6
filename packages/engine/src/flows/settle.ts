import { messageTrail } from "@slipway/kernel/errors";
import { isAgentError } from "../agents/agent.ts";
import { CpiRefused } from "../clouds/cloud.ts";
import type { IntentRecord } from "../journal/journal.ts";
import { display, slug } from "../model/names.ts";
import type { InstanceRecord } from "../model/records.ts";
import { aboutInstance, type FlowContext } from "../steps/context.ts";
import { IntentUnreadable, OutcomeUnknown } from "../steps/errors.ts";
import type { AnyStep, Settled, StepAttempt } from "../steps/step.ts";
import { stepNamed } from "../steps/steps.ts";
import { StepFailed } from "./errors.ts";
import { InstanceWriteBuffer } from "./run-steps.ts";

export interface SettleOptions {
  /** True: an intent that cannot be settled is closed, with a stray for what it may have made. */
  readonly giveUp?: boolean;
  /** Default: the deployment's. */
  readonly scope?: string;
}

/**
 * Finds out what became of every step that was begun and whose outcome is not recorded: after a crash, a lost CPI
 * or a canceled task. Afterwards the records say what is, and can be planned from.
 *
 * A CPI that refuses says nothing about the first call. Such an intent stays open and fails the task, after the other
 * intents are settled. Refused again in a later task, it is given up: no deploy fails for ever because of one.
 */
export async function settleOpenIntents(context: FlowContext, options: SettleOptions = {}): Promise<number> {
  const open = await context.journal.openIntents(options.scope ?? context.deployment);
  let refused: Error | undefined;
  for (const intent of open) refused = (await settleOne(intent, context, options)) ?? refused;
  if (refused !== undefined) throw refused;
  return open.length;
}

type SettleResult = Settled | { readonly how: "unknown"; readonly error: StepFailed };

/** Returns why the outcome is still unknown, if it is. */
async function settleOne(
  record: IntentRecord,
  context: FlowContext,
  options: SettleOptions,
): Promise<StepFailed | undefined> {
  const step = stepNamed(record.step);
  if (step === undefined) throw IntentUnreadable({ step: record.step, why: "there is no such step" });
  const instance = record.instance === null ? undefined : await context.journal.instance(record.instance);
  const buffer = new InstanceWriteBuffer(context.journal, instance);
  // Written by a version that journaled it: the plan takes it again.
  const begun = isJournaled(step) ? step.resume(record.version, record.intent) : undefined;
  // Done again, it would make or change something for an instance that is deleted.
  const orphaned = record.instance !== null && instance === undefined;
  const found: SettleResult =
    begun === undefined
      ? { how: "undone" }
      : record.restored
        ? givenUp(begun, context, "the Director was restored from a backup")
        : orphaned
          ? givenUp(begun, context, "its instance was deleted meanwhile")
          : await findOut(record, begun, instance, context, options);
  buffer.completeIntent(record);
  if (found.how === "unknown") {
    await buffer.flush(refusedOnce(record, context));
    return found.error;
  }
  if (found.how === "stray") buffer.write((writes) => writes.addStray(found.stray));
  if (found.how === "undone" && begun?.invalidate !== undefined && !orphaned) buffer.write(begun.invalidate);
  if (found.how === "done") {
    buffer.write(found.outcome.record);
    const { event } = found.outcome;
    if (event !== undefined)
      buffer.event({
        ...event,
        ends: true,
        ...(context.deployment !== "" && { deployment: context.deployment }),
        ...(instance !== undefined && { instance: slug(instance) }),
      });
  }
  await buffer.flush();
  return undefined;
}

/** The same intent, to be settled by a later task. */
const refusedOnce = (record: IntentRecord, { journal }: FlowContext): IntentRecord => ({
  ...record,
  taskId: journal.taskId,
  number: journal.newNumber(),
  settlingRefused: true,
});

/** Gives an intent up: records a stray for what the step may have made. The rest is planned again. */
function givenUp(begun: StepAttempt, context: FlowContext, why: string): Settled {
  const stray = begun.stray(context);
  return stray === undefined
    ? { how: "undone" }
    : { how: "stray", stray: { ...stray, why: `${stray.why} (${why})` } };
}

const isJournaled = ({ kind }: AnyStep): boolean => kind === "call" || kind === "create";

async function findOut(
  record: IntentRecord,
  begun: StepAttempt,
  instance: InstanceRecord | undefined,
  context: FlowContext,
  { giveUp = false }: SettleOptions,
): Promise<SettleResult> {
  const name = instance === undefined ? (record.instance ?? record.scope) : display(instance);
  const { step } = record;
  context.debug(`settling ${step} of ${name}`);
  try {
    return await begun.settle(aboutInstance(context, instance));
  } catch (error) {
    context.signal.throwIfAborted();
    const why = messageTrail(error);
    context.debug(`${step} of ${name} could not be settled: ${why}`);
    // Nothing in the cloud depends on what an agent has or has not done: the plan goes on from the records.
    if (isAgentError(error)) return { how: "undone" };
    if (giveUp) return givenUp(begun, context, why);
    const failed = (cause: unknown) => new StepFailed(name, `${step} begun earlier`, cause);
    if (!(error instanceof CpiRefused)) throw failed(error);
    if (record.settlingRefused !== true || isAway(error))
      return { how: "unknown", error: failed(OutcomeUnknown({ step, why }, { cause: error })) };
    const left = givenUp(begun, context, why);
    context.warn?.(
      `'${name}', ${step} begun earlier: the CPI refuses again to say what became of it (${why}). ${
        left.how === "stray"
          ? "What it may have made is among the strays (`slipway strays`)"
          : "It counts as not done; `bosh cck` compares the records with the cloud"
      }`,
    );
    return left;
  }
}

/** A CPI that does not run, or does not even answer a question, may answer later: nothing is given up meanwhile. */
const isAway = ({ method, type }: CpiRefused): boolean =>
  ["info", "has_vm", "has_disk"].includes(method) || type === "Bosh::Clouds::ExternalCpi::NonExecutable";
