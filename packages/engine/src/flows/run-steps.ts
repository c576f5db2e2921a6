import { messageTrail, toError } from "@slipway/kernel/errors";
import { AgentSilent } from "../agents/agent.ts";
import { CpiLost } from "../clouds/cloud.ts";
import { BadWrite } from "../journal/errors.ts";
import type { IntentKey, IntentRecord, Journal } from "../journal/journal.ts";
import { applyWrites, type Effects, NO_EFFECTS, type Writes } from "../journal/writes.ts";
import type { AuditEvent } from "../model/audit-event.ts";
import type { InstanceGoal } from "../model/goal.ts";
import { display, type InstanceUuid, slug } from "../model/names.ts";
import type { InstanceRecord } from "../model/records.ts";
import { aboutInstance, type FlowContext } from "../steps/context.ts";
import type { Step, StepAttempt, StepEvent, StepOutcome, StepSubject } from "../steps/step.ts";
import { OTHER_STEPS, STEPS, type StepName } from "../steps/steps.ts";
import { StepFailed } from "./errors.ts";

/** An instance has a few VMs and disks. A step that finds more to do than this does not record what it does. */
const MOST_ROUNDS = 100;

/** An instance on its way to its goal. */
export interface InstanceRun {
  readonly uuid: InstanceUuid;
  readonly goal: InstanceGoal;
  readonly watchMs: readonly [low: number, high: number] | null;
  /** Called before each step. */
  readonly progress?: ((step: StepName, subject: StepSubject) => void) | undefined;
}

/** Takes the steps in order, on what is recorded of the instance now. */
export async function runSteps(
  names: readonly StepName[],
  run: InstanceRun,
  context: FlowContext,
): Promise<void> {
  const buffer = new InstanceWriteBuffer(context.journal, await context.journal.instance(run.uuid));
  await flushed(buffer, async () => {
    for (const name of names) await takeStep(name, run, buffer, context);
  });
}

/** Runs the work and writes its changes to the journal afterwards, also if the work failed. */
export async function flushed(buffer: InstanceWriteBuffer, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    // Why it failed matters more than that it could not be written down.
    await buffer.flush().catch(() => undefined);
    throw error;
  }
  await buffer.flush();
}

/** Looks at the step with the records as they are; it is skipped when they say it is done. */
export async function takeStep(
  name: StepName,
  run: InstanceRun,
  buffer: InstanceWriteBuffer,
  context: FlowContext,
): Promise<void> {
  const { instance } = buffer;
  if (instance === undefined) return;
  await take(STEPS[name], {
    buffer,
    context: aboutInstance(context, instance),
    scope: context.deployment,
    instance,
    label: display(instance),
    subject: () => buffer.instance && { goal: run.goal, instance: buffer.instance, watchMs: run.watchMs },
    progress: (subject) => run.progress?.(name, subject),
  });
}

type OtherSteps = typeof OTHER_STEPS;
type SubjectOf<T> = T extends Step<infer S> ? S : never;

/** A step on something that no instance has. `scope`: what its intent is journaled under. */
export async function runOther<N extends keyof OtherSteps>(
  name: N,
  subject: SubjectOf<OtherSteps[N]>,
  context: FlowContext,
  scope = context.deployment,
): Promise<void> {
  const buffer = new InstanceWriteBuffer(context.journal);
  const step = OTHER_STEPS[name] as unknown as Step<SubjectOf<OtherSteps[N]>>;
  await flushed(buffer, () =>
    take(step, { buffer, context, scope, instance: undefined, label: scope, subject: () => subject }),
  );
}

interface Taking<S> {
  readonly buffer: InstanceWriteBuffer;
  readonly context: FlowContext;
  readonly scope: string;
  readonly instance: { readonly uuid: InstanceUuid; readonly group: string } | undefined;
  /** For people. */
  readonly label: string;
  readonly subject: () => S | undefined;
  readonly progress?: (subject: S) => void;
}

async function take<S>(step: Step<S>, taking: Taking<S>): Promise<void> {
  const { context, label } = taking;
  let tries = 1;
  for (let rounds = 0; ; rounds++) {
    if (rounds > MOST_ROUNDS) throw new Error(`bug: ${step.name} of ${label} finds no end`);
    context.signal.throwIfAborted();
    const subject = taking.subject();
    const begun = subject && step.begin(subject, context);
    if (subject === undefined || begun === undefined) return;
    taking.progress?.(subject);
    context.debug(`${step.name} of ${label}`);
    try {
      await carryOut(step, begun, taking);
    } catch (error) {
      context.signal.throwIfAborted();
      if (!step.retry(error, tries, context)) throw new StepFailed(label, step.name, error);
      tries += 1;
      context.debug(`${step.name} of ${label}: tried again after: ${String(error)}`);
      continue;
    }
    if (!step.loop) return;
  }
}

/** Intent, work, outcome. The outcome is committed with what comes next, and before any other call. */
async function carryOut<S>(step: Step<S>, begun: StepAttempt, taking: Taking<S>): Promise<void> {
  const { buffer, context, scope, instance } = taking;
  noteEvent(begun.event, taking);
  if (begun.journaled === undefined) {
    if (begun.invalidate !== undefined) buffer.write(begun.invalidate);
    if (step.kind !== "record") await buffer.flush();
    const outcome = await runThrough(step, begun, taking).catch((error: unknown) => {
      if (!context.signal.aborted) noteFailure(error, begun, taking);
      throw error;
    });
    return noteOutcome(outcome, taking);
  }
  const { journal } = context;
  const key = { taskId: journal.taskId, number: journal.newNumber() };
  await buffer.flush({
    ...key,
    scope,
    instance: instance?.uuid ?? null,
    step: step.name,
    ...begun.journaled,
  });
  let outcome: StepOutcome;
  try {
    outcome = await runThrough(step, begun, taking);
  } catch (error) {
    // Whether a lost or interrupted call was carried out is not known: the intent stays open, to be settled.
    const unknown = error instanceof CpiLost || error instanceof AgentSilent || context.signal.aborted;
    if (!unknown) {
      buffer.completeIntent(key);
      if (begun.invalidate !== undefined) buffer.write(begun.invalidate);
      noteFailure(error, begun, taking);
      await buffer.flush();
    }
    throw error;
  }
  buffer.completeIntent(key);
  noteOutcome(outcome, taking);
  if (outcome.failure === undefined) return;
  await buffer.flush();
  throw outcome.failure;
}

/** How often a CPI is asked again that something outside has ended in the middle of a step. */
const MOST_KILLED = 3;

/**
 * The work of a step. A CPI that was killed meanwhile has done it or not: that is found out at once, as after a crash of
 * the Director, and the step goes on. What cannot be found out stays as it is, and fails the step.
 */
async function runThrough<S>(
  step: Step<S>,
  begun: StepAttempt,
  { context, label }: Taking<S>,
): Promise<StepOutcome> {
  let work = () => begun.run(context);
  for (let killed = 1; ; killed++) {
    try {
      return await work();
    } catch (error) {
      const known = !(error instanceof CpiLost) || error.killedBy === undefined;
      if (known || context.signal.aborted || killed > MOST_KILLED) throw error;
      const { method, message, killedBy, cause } = error;
      context.interrupted?.();
      context.warn?.(
        `'${label}', ${step.name}: the CPI was ended from outside (${killedBy}) in '${method}'; the Director finds out what became of it`,
      );
      // What is not journaled is harmless twice.
      if (begun.journaled === undefined) continue;
      work = async () => {
        const settled = await begun.settle(context).catch((why: unknown) => {
          if (why instanceof CpiLost) throw why;
          // An error now says nothing about the call that was cut off: its outcome stays unknown.
          throw new CpiLost(
            method,
            `${message}; what became of it could not be found out: ${messageTrail(why)}`,
            {
              cause,
            },
          );
        });
        if (settled.how === "done") return settled.outcome;
        if (settled.how === "undone") return await begun.run(context);
        throw new CpiLost(method, message, { cause });
      };
    }
  }
}

function noteOutcome<S>({ record, event }: StepOutcome, taking: Taking<S>): void {
  taking.buffer.write(record);
  noteEvent(event, taking, { ends: true });
}

const noteFailure = <S>(error: unknown, { event }: StepAttempt, taking: Taking<S>): void =>
  noteEvent(event, taking, { ends: true, error: messageTrail(error) });

function noteEvent<S>(
  event: StepEvent | undefined,
  { buffer, context, instance }: Taking<S>,
  end: Pick<AuditEvent, "ends" | "error"> = {},
): void {
  if (event === undefined) return;
  buffer.event({
    ...event,
    ...end,
    ...(context.deployment !== "" && { deployment: context.deployment }),
    ...(instance !== undefined && { instance: slug(instance) }),
  });
}

/** Changes of the records that belong to no step: what an operator has decided by hand. */
export async function changeInstance(
  uuid: InstanceUuid,
  context: Pick<FlowContext, "journal">,
  write: (writes: Writes) => void,
  event?: AuditEvent,
): Promise<void> {
  const buffer = new InstanceWriteBuffer(context.journal, await context.journal.instance(uuid));
  buffer.write(write);
  if (event !== undefined) buffer.event(event);
  await buffer.flush();
}

/**
 * State of one instance while steps run on it, and the changes that the journal does not have yet. The state is not read again
 * after a write: the task holds the lock, and only it changes the instance.
 */
export class InstanceWriteBuffer {
  readonly #journal: Pick<Journal, "commit">;
  #written: InstanceRecord | null | undefined;
  #now: InstanceRecord | null | undefined;
  #effects: Effects = NO_EFFECTS;
  #completed: IntentKey | undefined;
  #events: AuditEvent[] = [];
  #lost: Error | undefined;

  /** Without an instance for steps on other things. */
  constructor(journal: Pick<Journal, "commit">, instance?: InstanceRecord | undefined) {
    this.#journal = journal;
    this.#written = instance;
    this.#now = instance;
  }

  get instance(): InstanceRecord | undefined {
    return this.#now ?? undefined;
  }

  write(write: (writes: Writes) => void): void {
    const { instance, effects } = applyWrites(this.#now, this.#effects, write);
    this.#now = instance;
    this.#effects = effects;
  }

  event(event: AuditEvent): void {
    this.#events.push(event);
  }

  /** The step is over; what it changes is written before this is flushed. */
  completeIntent(intent: IntentKey): void {
    if (this.#completed !== undefined) throw new Error("bug: two outcomes at once");
    this.#completed = intent;
  }

  /** The journal has everything, and the intent of what comes next: one round trip. */
  async flush(open?: IntentRecord): Promise<void> {
    const before = this.#written;
    const after = this.#now;
    const changed = before !== undefined && before !== null && before !== after;
    const entry = {
      close: this.#completed,
      instance: changed ? { before, after: after ?? null } : undefined,
      effects: this.#effects,
      open,
      events: this.#events,
    };
    const idle = !changed && this.#effects === NO_EFFECTS && this.#events.length === 0;
    if (idle && open === undefined && entry.close === undefined) return;
    if (this.#lost !== undefined) throw this.#lost;
    try {
      await this.#journal.commit(entry);
    } catch (error) {
      // Whether it was written is not known, so nothing may be written on top: who goes on reads the records again.
      if (!BadWrite.is(error)) this.#lost = toError(error);
      throw error;
    }
    this.#written = after;
    this.#effects = NO_EFFECTS;
    this.#completed = undefined;
    this.#events = [];
  }
}
