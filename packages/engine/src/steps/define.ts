import { check } from "@slipway/protocol/schema/check";
import type { JsonObject } from "@slipway/protocol/schema/json";
import { isAgentError } from "../agents/agent.ts";
import { CpiRefused, refusedAs } from "../clouds/cloud.ts";
import type { Stray, Writes } from "../journal/writes.ts";
import { cloudOf, type FlowContext } from "./context.ts";
import { IntentUnreadable } from "./errors.ts";
import {
  type CallStep,
  type Common,
  type CreateStep,
  type Journaled,
  type RecordStep,
  type RerunStep,
  type Step,
  type StepAttempt,
  type StepEvent,
  type StepOutcome,
  type StepSubject,
  type StepWords,
  UNDONE,
} from "./step.ts";

/** Makes a step of its definition. The types of its intent and outcome are known here, and nowhere behind. */

const wordsOf = ({ calls, drainCalls, status, line }: StepWords): StepWords => ({
  calls,
  drainCalls,
  status,
  line,
});

const eventOf = <S, I, O>(step: Common<S, I, O>, intent: I, outcome?: O): StepEvent | undefined =>
  step.event?.(intent, outcome);

export function recordStep<I, S = StepSubject>(step: Omit<RecordStep<S, I>, "kind">): Step<S> {
  const begun = (intent: I): StepAttempt => ({
    journaled: undefined,
    invalidate: undefined,
    event: eventOf(step, intent),
    run: () =>
      Promise.resolve({
        event: eventOf(step, intent),
        record: (writes) => step.record(intent, writes),
      }),
    settle: never,
    stray: () => undefined,
  });
  return unjournaled({ ...step, kind: "record", records: true }, begun);
}

export function rerunStep<I, O = void, S = StepSubject>(step: Omit<RerunStep<S, I, O>, "kind">): Step<S> {
  const { invalidate } = step;
  const begun = (intent: I): StepAttempt => ({
    journaled: undefined,
    invalidate: invalidate && ((writes) => invalidate(intent, writes)),
    event: eventOf(step, intent),
    run: async (context) => outcomeOf(step, intent, await step.run(intent, context)),
    settle: never,
    stray: () => undefined,
  });
  const records = step.record !== undefined;
  return {
    ...unjournaled({ ...step, kind: "rerun", records }, begun),
    invalidates: invalidate !== undefined,
  };
}

export function callStep<I extends object, O = void, S = StepSubject>(
  step: Omit<CallStep<S, I, O>, "kind">,
): Step<S> {
  const { invalidate, settle } = step;
  const begun = (intent: I): StepAttempt => ({
    journaled: kept(step, intent),
    invalidate: invalidate && ((writes) => invalidate(intent, writes)),
    event: eventOf(step, intent),
    run: async (context) => {
      const outcome = await step.run(intent, context);
      return { ...outcomeOf(step, intent, outcome), failure: step.failure?.(outcome) };
    },
    settle: async (context) => {
      const work = async () => {
        const found = await (settle === "run" ? step.run : settle)(intent, context);
        // What is not known of a part is not known of the whole: the intent names it.
        const failure = found === UNDONE ? undefined : step.failure?.(found);
        if (failure !== undefined) throw failure;
        return found;
      };
      const found = await work().catch(async (error: unknown) => {
        context.signal.throwIfAborted();
        const failed = error instanceof CpiRefused || isAgentError(error);
        if (!failed || step.inDoubt === undefined) throw error;
        return await step.inDoubt(intent, error, context);
      });
      return found === UNDONE ? { how: "undone" } : { how: "done", outcome: outcomeOf(step, intent, found) };
    },
    stray: () => undefined,
  });
  return {
    ...journaled({ ...step, kind: "call" }, begun),
    settles: settle !== "run",
    invalidates: invalidate !== undefined,
  };
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
  const begun = (intent: I): StepAttempt => ({
    journaled: kept(step, intent),
    invalidate: undefined,
    event: eventOf(step, intent),
    run: async (context) => outcomeOf(step, intent, await step.run(intent, context)),
    // A CPI that remembers requests is asked again; with another the thing may exist without our knowing its cid.
    settle: async (context) => {
      const { repeatable } = await cloudOf(context, intent.cpi).info({ signal: context.signal });
      if (!repeatable) return { how: "stray", stray: strayOf(intent, context) };
      try {
        return { how: "done", outcome: outcomeOf(step, intent, await step.run(intent, context)) };
      } catch (error) {
        // A CPI without the method has never made anything by it. Any other refusal says nothing about the first call.
        if (refusedAs(error, "NotImplemented")) return { how: "undone" };
        throw error;
      }
    },
    stray: (context) => strayOf(intent, context),
  });
  return { ...journaled({ ...step, kind: "create" }, begun), retry: step.retry ?? (() => false) };
}

function outcomeOf<S, I, O>(
  step: Common<S, I, O> & { record?(intent: I, outcome: O, writes: Writes): void },
  intent: I,
  outcome: O,
): StepOutcome {
  return {
    event: eventOf(step, intent, outcome),
    record: (writes) => step.record?.(intent, outcome, writes),
  };
}

/** Returns an intent as the journal stores it: plain JSON, exactly as it is read after a crash. */
const kept = <I>(step: Journaled<I>, intent: I) => ({
  version: step.version,
  intent: JSON.parse(JSON.stringify(intent)) as JsonObject,
});

function unjournaled<S, I, O>(
  step: Common<S, I, O> & { readonly kind: "record" | "rerun"; readonly records: boolean },
  begun: (intent: I) => StepAttempt,
): Step<S> {
  return {
    ...wordsOf(step),
    ...base(step, begun),
    records: step.records,
    settles: false,
    invalidates: false,
    intentVersion: undefined,
    resume: (version) => {
      throw IntentUnreadable({ step: step.name, why: `version ${version} of it is not journaled` });
    },
  };
}

function journaled<S, I, O>(
  step: Common<S, I, O> & Journaled<I> & { readonly kind: "call" | "create" },
  begun: (intent: I) => StepAttempt,
): Step<S> {
  return {
    ...wordsOf(step),
    ...base(step, begun),
    records: true,
    settles: true,
    invalidates: false,
    intentVersion: step.version,
    resume: (version, intent) => begun(read(step, version, intent)),
  };
}

const base = <S, I, O>(
  step: Common<S, I, O> & { readonly kind: Step<S>["kind"] },
  begun: (intent: I) => StepAttempt,
) => ({
  name: step.name,
  kind: step.kind,
  subject: step.subject,
  loop: step.loop === true,
  retry: () => false,
  begin: (subject: S, context: FlowContext): StepAttempt | undefined => {
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
