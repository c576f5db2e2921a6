import type { JsonObject } from "@slipway/protocol/schema/json";
import { CpiLost } from "../clouds/cloud.ts";
import { display, type InstanceUuid } from "../model/names.ts";
import type { InstancePlan, StepName } from "../plan/model.ts";
import { audit } from "./audit.ts";
import { StepFailed } from "./errors.ts";
import { Records } from "./records.ts";
import { type AnyStep, aboutInstance, type FlowContext, type Step, type Subject } from "./step.ts";
import { STEPS } from "./steps.ts";

/** An instance has a few VMs and disks. A step that finds more to do than this does not record what it does. */
const MOST_ROUNDS = 100;

/** An instance on its way to its plan. */
export interface Journey {
  readonly uuid: InstanceUuid;
  readonly plan: InstancePlan;
  readonly watchMs: readonly [low: number, high: number] | null;
  /** Told each step before it is taken. */
  readonly progress?: (step: StepName) => void;
}

/**
 * Takes the steps in order. Each is looked at with the records as they are, and skipped when they say it is done.
 * `records`: of whoever takes several lists of steps after each other, and changes nothing in between.
 */
export async function runSteps(
  names: readonly StepName[],
  journey: Journey,
  context: FlowContext,
  records = new Records(journey.uuid, context.journal),
): Promise<void> {
  for (const name of names) {
    context.signal.throwIfAborted();
    await runStep(STEPS[name], journey, records, context);
  }
}

async function runStep(
  step: AnyStep,
  journey: Journey,
  records: Records,
  context: FlowContext,
): Promise<void> {
  let tries = 1;
  for (let rounds = 0; ; rounds++) {
    if (rounds > MOST_ROUNDS) throw new Error(`bug: ${step.name} of ${journey.uuid} finds no end`);
    const instance = await records.instance();
    const subject: Subject | undefined = instance && {
      plan: journey.plan,
      instance,
      watchMs: journey.watchMs,
    };
    if (subject === undefined || step.done?.(subject) === true) return;
    const intent = step.intent(subject, context);
    if (intent === undefined) return;
    journey.progress?.(step.name);
    try {
      const own = aboutInstance(context, subject.instance);
      const outcome = await take(step as unknown as Step<object, unknown>, intent, records, own);
      await audit(step.name, subject.instance, intent, outcome, context);
    } catch (error) {
      context.signal.throwIfAborted();
      if (step.retry?.(error, tries, context) !== true)
        throw new StepFailed(display(subject.instance), step.name, error);
      tries += 1;
      context.debug(`${step.name} of ${journey.uuid}: tried again after: ${String(error)}`);
      continue;
    }
    if (step.repeats !== true) return;
  }
}

/** Intent, work, outcome. */
async function take(
  step: Step<object, unknown>,
  intent: object,
  records: Records,
  context: FlowContext,
): Promise<unknown> {
  const { taskId, deployment, journal } = context;
  const instance = records.uuid;
  context.debug(`${step.name} of ${instance}`);
  if (step.record !== undefined) records.forget();
  if (step.inward === true) {
    return await journal.write((writes) => step.record?.(intent, undefined, writes));
  }
  const opened = await journal.open({
    taskId,
    deployment,
    instance,
    step: step.name,
    intent: intent as unknown as JsonObject,
  });
  let outcome: unknown;
  try {
    outcome = await step.run(opened.intent, context);
  } catch (error) {
    // Whether a lost or interrupted call was carried out is not known: the intent stays open, to be settled.
    const unknown = error instanceof CpiLost || context.signal.aborted;
    if (!unknown) await journal.close(opened.id, "failed", (writes) => step.doubt?.(opened.intent, writes));
    throw error;
  }
  await journal.close(opened.id, "done", (writes) => step.record?.(opened.intent, outcome, writes));
  return outcome;
}
