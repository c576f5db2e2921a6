import { check } from "@slipway/protocol/schema/check";
import type { JsonObject } from "@slipway/protocol/schema/json";
import type * as v from "valibot";
import type { Stray, Writes } from "../journal/writes.ts";
import type { InstanceGoal } from "../model/goal.ts";
import type { InstanceRecord } from "../model/records.ts";
import { cloudOf, type FlowContext } from "./context.ts";
import { IntentUnreadable } from "./errors.ts";

/** The instance at hand: what it is to become, and what is recorded of it now. */
export interface StepSubject {
  readonly goal: InstanceGoal;
  /** As the steps before have left it. */
  readonly instance: InstanceRecord;
  /** How long it may take to be running: the shorter and the longer time. Null: nobody waits for it. */
  readonly watchMs: readonly [low: number, high: number] | null;
}

/** What a step is about. */
export type SubjectKind = "instance" | "vm" | "disk" | "stemcell";

/** What `bosh events` says of a step that was done. */
export interface StepEvent {
  readonly action: string;
  readonly objectType: SubjectKind;
  readonly objectName: string;
}

/** For the words of `create-env`. */
export interface About {
  readonly stemcell?: string | undefined;
  /** What the cloud at hand has: VMs, or sandboxes of this machine. */
  readonly machine: "VM" | "sandbox";
}

/** How a step reads, whoever takes it. */
export interface StepWords {
  /** The calls it makes, for a dry run: `cpi create_vm`, `agent mount_disk`. */
  readonly calls: readonly string[];
  /** Calls that are left out with `--skip-drain`. */
  readonly drainCalls?: readonly string[] | undefined;
  /** What people read in the task's event log meanwhile, upstream's words where it has them. A step of a moment has none. */
  readonly status?: string | undefined;
  /** What `create-env` prints, upstream's words where it has them. */
  readonly line?: ((instance: InstanceRecord, about: About) => string) | undefined;
}

interface Common<S, I, O> extends StepWords {
  readonly name: string;
  readonly subject: SubjectKind;
  /** What will be done, with every id it uses. Undefined: the records say that there is nothing to do. */
  intent(subject: S, context: FlowContext): I | undefined;
  event?(intent: I, outcome: O): StepEvent;
  /** Begun anew for as long as it finds something to do: one intent per thing. */
  readonly loop?: true;
}

/** Changes the records and calls nobody. */
export interface RecordStep<S, I> extends Common<S, I, void> {
  readonly kind: "record";
  record(intent: I, writes: Writes): void;
}

/** Calls that are harmless twice: after a crash the plan takes the step again. Nothing of it is in the journal. */
export interface RerunStep<S, I, O> extends Common<S, I, O> {
  readonly kind: "rerun";
  /** What the records may no longer claim from the first call on. Committed before it. */
  invalidate?(intent: I, writes: Writes): void;
  run(intent: I, context: FlowContext): Promise<O>;
  record?(intent: I, outcome: O, writes: Writes): void;
}

/** The form of an intent that the journal keeps. `version` goes up when it changes; older ones are still read. */
interface Journaled<I> {
  readonly version: number;
  readonly schema: v.GenericSchema<unknown, I>;
  /** Intents of earlier versions, brought to the form of the next. */
  readonly upgrade?: Readonly<Record<number, (older: JsonObject) => JsonObject>> | undefined;
}

/** Calls whose outcome must be known: the intent is committed before them, the outcome after. */
export interface CallStep<S, I, O> extends Common<S, I, O>, Journaled<I> {
  readonly kind: "call";
  run(intent: I, context: FlowContext): Promise<O>;
  record(intent: I, outcome: O, writes: Writes): void;
  /** Finds out from the intent alone what became of it. `run`: by doing it again, which is harmless. */
  readonly settle: "run" | ((intent: I, context: FlowContext) => Promise<O>);
  /** What the records may no longer claim when it was begun and may or may not have been done. */
  invalidate?(intent: I, writes: Writes): void;
}

/** Makes something in the cloud that has no name before. Settled by its request id, or else noted as a stray. */
export interface CreateStep<S, I extends { readonly cpi: string; readonly requestId: string }, O>
  extends Common<S, I, O>,
    Journaled<I> {
  readonly kind: "create";
  run(intent: I, context: FlowContext): Promise<O>;
  record(intent: I, outcome: O, writes: Writes): void;
  /** What may exist when the CPI cannot say. */
  stray(intent: I, context: FlowContext): Pick<Stray, "kind" | "about" | "addresses">;
  /** Whether a failure is worth another try, with an intent of its own. `tries` counts those made. */
  retry?(error: unknown, tries: number, context: FlowContext): boolean;
}

/** What a step's work came to. */
export interface Outcome {
  readonly event: StepEvent | undefined;
  record(writes: Writes): void;
}

export type Settled =
  | { readonly how: "done"; readonly outcome: Outcome }
  | { readonly how: "stray"; readonly stray: Stray };

/** A step with its intent in hand. */
export interface Begun {
  /** As the journal keeps it; undefined: it keeps none of this kind. */
  readonly journaled: { readonly version: number; readonly intent: JsonObject } | undefined;
  readonly invalidate: ((writes: Writes) => void) | undefined;
  run(context: FlowContext): Promise<Outcome>;
  settle(context: FlowContext): Promise<Settled>;
  /** What to note when nothing can be found out; undefined: nothing can have been left behind. */
  stray(context: FlowContext): Stray | undefined;
}

/** A step as the table holds it. The types of its intent and outcome stay inside. */
export interface Step<S> extends StepWords {
  readonly name: string;
  readonly kind: "record" | "rerun" | "call" | "create";
  readonly subject: SubjectKind;
  readonly loop: boolean;
  /** Whether its outcome changes the records. */
  readonly records: boolean;
  /** Of the form its intents have in the journal; undefined: it has none there. */
  readonly intentVersion: number | undefined;
  begin(subject: S, context: FlowContext): Begun | undefined;
  /** From what the journal has kept. */
  resume(version: number, intent: JsonObject): Begun;
  retry(error: unknown, tries: number, context: FlowContext): boolean;
}

/** Any step, for whoever has only its name and its intent. */
export type AnyStep = Step<never>;

const wordsOf = ({ calls, drainCalls, status, line }: StepWords): StepWords => ({
  calls,
  drainCalls,
  status,
  line,
});

const eventOf = <S, I, O>(step: Common<S, I, O>, intent: I, outcome: O): StepEvent | undefined =>
  step.event?.(intent, outcome);

export function recordStep<I, S = StepSubject>(step: Omit<RecordStep<S, I>, "kind">): Step<S> {
  const begun = (intent: I): Begun => ({
    journaled: undefined,
    invalidate: undefined,
    run: () =>
      Promise.resolve({
        event: eventOf(step, intent, undefined),
        record: (writes) => step.record(intent, writes),
      }),
    settle: never,
    stray: () => undefined,
  });
  return unjournaled({ ...step, kind: "record", records: true }, begun);
}

export function rerunStep<I, O = void, S = StepSubject>(step: Omit<RerunStep<S, I, O>, "kind">): Step<S> {
  const { invalidate } = step;
  const begun = (intent: I): Begun => ({
    journaled: undefined,
    invalidate: invalidate && ((writes) => invalidate(intent, writes)),
    run: async (context) => outcomeOf(step, intent, await step.run(intent, context)),
    settle: never,
    stray: () => undefined,
  });
  return unjournaled({ ...step, kind: "rerun", records: step.record !== undefined }, begun);
}

export function callStep<I extends object, O = void, S = StepSubject>(
  step: Omit<CallStep<S, I, O>, "kind">,
): Step<S> {
  const { invalidate, settle } = step;
  const begun = (intent: I): Begun => ({
    journaled: kept(step, intent),
    invalidate: invalidate && ((writes) => invalidate(intent, writes)),
    run: async (context) => outcomeOf(step, intent, await step.run(intent, context)),
    settle: async (context) => {
      const work = settle === "run" ? step.run : settle;
      return { how: "done", outcome: outcomeOf(step, intent, await work(intent, context)) };
    },
    stray: () => undefined,
  });
  return journaled({ ...step, kind: "call" }, begun);
}

export function createStep<
  I extends { readonly cpi: string; readonly requestId: string },
  O,
  S = StepSubject,
>(step: Omit<CreateStep<S, I, O>, "kind">): Step<S> {
  const strayOf = (intent: I, context: FlowContext): Stray => ({
    ...step.stray(intent, context),
    cpi: intent.cpi,
    requestId: intent.requestId,
    why: `${step.name} was under way when the Director or the CPI ended; this CPI cannot be asked what became of it`,
  });
  const begun = (intent: I): Begun => ({
    journaled: kept(step, intent),
    invalidate: undefined,
    run: async (context) => outcomeOf(step, intent, await step.run(intent, context)),
    // A CPI that remembers requests is asked again; with another the thing may exist without our knowing its cid.
    settle: async (context) => {
      const { repeatable } = await cloudOf(context, intent.cpi).info({ signal: context.signal });
      if (!repeatable) return { how: "stray", stray: strayOf(intent, context) };
      return { how: "done", outcome: outcomeOf(step, intent, await step.run(intent, context)) };
    },
    stray: (context) => strayOf(intent, context),
  });
  return { ...journaled({ ...step, kind: "create" }, begun), retry: step.retry ?? (() => false) };
}

function outcomeOf<S, I, O>(
  step: Common<S, I, O> & { record?(intent: I, outcome: O, writes: Writes): void },
  intent: I,
  outcome: O,
): Outcome {
  return {
    event: eventOf(step, intent, outcome),
    record: (writes) => step.record?.(intent, outcome, writes),
  };
}

/** As it will be read after a crash: the same for whoever runs it now. */
const kept = <I>(step: Journaled<I>, intent: I) => ({
  version: step.version,
  intent: JSON.parse(JSON.stringify(intent)) as JsonObject,
});

function unjournaled<S, I, O>(
  step: Common<S, I, O> & { readonly kind: "record" | "rerun"; readonly records: boolean },
  begun: (intent: I) => Begun,
): Step<S> {
  return {
    ...wordsOf(step),
    ...base(step, begun),
    records: step.records,
    intentVersion: undefined,
    resume: (version) => {
      throw IntentUnreadable({ step: step.name, why: `version ${version} of it is not journaled` });
    },
  };
}

function journaled<S, I, O>(
  step: Common<S, I, O> & Journaled<I> & { readonly kind: "call" | "create" },
  begun: (intent: I) => Begun,
): Step<S> {
  return {
    ...wordsOf(step),
    ...base(step, begun),
    records: true,
    intentVersion: step.version,
    resume: (version, intent) => begun(read(step, version, intent)),
  };
}

const base = <S, I, O>(
  step: Common<S, I, O> & { readonly kind: Step<S>["kind"] },
  begun: (intent: I) => Begun,
) => ({
  name: step.name,
  kind: step.kind,
  subject: step.subject,
  loop: step.loop === true,
  retry: () => false,
  begin: (subject: S, context: FlowContext): Begun | undefined => {
    const intent = step.intent(subject, context);
    return intent === undefined ? undefined : begun(intent);
  },
});

function read<I>(step: Journaled<I> & { readonly name: string }, version: number, stored: JsonObject): I {
  let intent = stored;
  for (let at = version; at < step.version; at++) {
    const upgrade = step.upgrade?.[at];
    if (upgrade === undefined)
      throw IntentUnreadable({ step: step.name, why: `version ${version} of it is unknown` });
    intent = upgrade(intent);
  }
  if (version > step.version)
    throw IntentUnreadable({ step: step.name, why: `version ${version} of it is newer than this program` });
  const checked = check(step.schema, intent, "intent");
  if (!checked.ok) throw IntentUnreadable({ step: step.name, why: checked.problems.join("; ") });
  return checked.value as I;
}

function never(): never {
  throw new Error("bug: a step that is not journaled was to be settled");
}
