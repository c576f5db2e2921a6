import { messageTrail } from "@slipway/kernel/errors";
import { AgentRefused, AgentSilent, WrongAgent } from "../agents/agent.ts";
import { CpiRefused } from "../clouds/cloud.ts";
import { display } from "../model/names.ts";
import type { StepName } from "../plan/model.ts";
import { IntentUnreadable, StepFailed } from "./errors.ts";
import type { IntentRecord, Writes } from "./journal.ts";
import { aboutInstance, type FlowContext, type Settled, type Step } from "./step.ts";
import { STEPS } from "./steps.ts";

/**
 * Finds out what became of every step that was begun and whose outcome nobody has recorded: after a crash, a lost CPI
 * or a cancelled task. Afterwards the records say what is, and can be planned from.
 */
export async function settleOpenIntents(context: FlowContext): Promise<number> {
  const open = await context.journal.openIntents(context.deployment);
  for (const intent of open) await settleOne(intent, context);
  return open.length;
}

async function settleOne(record: IntentRecord, context: FlowContext): Promise<void> {
  if (!Object.hasOwn(STEPS, record.step)) throw IntentUnreadable({ step: record.step, id: record.id });
  const step = STEPS[record.step as StepName] as unknown as Step<object, unknown>;
  const { intent } = record;
  const undone = (writes: Writes) => step.doubt?.(intent, writes);
  if (step.redo === true) return await context.journal.close(record.id, "undone", undone);
  context.debug(`settling ${record.step} of ${record.instance ?? context.deployment}`);
  const own = aboutInstance(context, await instanceOf(record, context));
  let settled: Settled<unknown>;
  try {
    settled = step.settle
      ? await step.settle(intent, own)
      : { how: "done", outcome: await step.run(intent, own) };
  } catch (error) {
    // An answer is an outcome: it was not done. Planning from the records goes on from there.
    const answered =
      error instanceof CpiRefused ||
      error instanceof AgentRefused ||
      error instanceof AgentSilent ||
      error instanceof WrongAgent;
    context.signal.throwIfAborted();
    if (!answered) throw new StepFailed(await nameOf(record, context), `${record.step} begun earlier`, error);
    context.debug(`${record.step} was not done: ${messageTrail(error)}`);
    settled = { how: "undone" };
  }
  await context.journal.close(record.id, settled.how, (writes) => {
    if (settled.how === "done") step.record?.(intent, settled.outcome, writes);
    if (settled.how === "stray") writes.addStray(settled.stray);
    if (settled.how === "undone") undone(writes);
  });
}

async function nameOf(record: IntentRecord, context: FlowContext): Promise<string> {
  const instance = await instanceOf(record, context);
  return instance === undefined ? (record.instance ?? context.deployment) : display(instance);
}

const instanceOf = async ({ instance: uuid }: IntentRecord, { journal }: FlowContext) =>
  uuid === null ? undefined : await journal.instance(uuid);
