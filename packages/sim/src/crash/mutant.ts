import { AgentRefused } from "@slipway/engine/agents/agent";
import { CpiRefused } from "@slipway/engine/clouds/cloud";
import type { Journal } from "@slipway/engine/journal/journal";
import type { AnyStep, StepAttempt, StepOutcome } from "@slipway/engine/steps/step";
import { OTHER_STEPS, STEPS } from "@slipway/engine/steps/steps";
import type { Mutant, StartedStep } from "./child-order.ts";

type Table = Record<string, AnyStep>;
type Facts = Pick<AnyStep, "kind" | "records" | "settles" | "invalidates">;

/** Tables of steps that are patched: flows look up each step there. */
const TABLES: readonly Table[] = [STEPS as Table, OTHER_STEPS as Table];

/**
 * Every part of every step that can be switched off. A step that is settled by being done again is begun again without its
 * intent, too: there is nothing to notice. A step with its own way to find out the outcome can be noticed. A step
 * that is simply taken again takes back before it begins what the records may no longer claim; a journaled one when it was
 * answered that it was not done. A refusal while a create step is settled is no such answer.
 */
export function allMutants(
  steps: Readonly<Record<string, Facts>> = Object.assign({}, ...TABLES),
): readonly Mutant[] {
  return Object.entries(steps).flatMap(([step, { kind, records, settles, invalidates }]) => {
    const parts: Mutant["part"][] = [];
    if (settles) parts.push("settle", "intent");
    if (kind === "create") parts.push("refusal");
    if (invalidates) parts.push("invalidate");
    if (records) parts.push("record");
    return parts.map((part) => ({ step, part }));
  });
}

/** Changes the table of steps of this process; the journals it returns are the Director's from then on. */
export function switchOff(mutant: Mutant | undefined): (journal: Journal) => Journal {
  if (mutant === undefined) return (journal) => journal;
  const { step, part } = mutant;
  if (part === "intent") return (journal) => withoutIntent(step, journal);
  change(step, (begun) => OFF[part](begun));
  return (journal) => journal;
}

const OFF: Readonly<Record<Exclude<Mutant["part"], "intent">, (begun: StepAttempt) => StepAttempt>> = {
  record: (begun) => ({
    ...begun,
    run: async (context) => unrecorded(await begun.run(context)),
    settle: async (context) => {
      const settled = await begun.settle(context);
      return settled.how === "done" ? { ...settled, outcome: unrecorded(settled.outcome) } : settled;
    },
  }),
  // As if there had been an answer that it was not done.
  settle: (begun) => ({ ...begun, settle: () => Promise.reject(new AgentRefused("switched off")) }),
  invalidate: (begun) => ({ ...begun, invalidate: undefined }),
  // As if a refusal had proved that it was not done.
  refusal: (begun) => ({
    ...begun,
    settle: async (context) => {
      try {
        return await begun.settle(context);
      } catch (error) {
        if (error instanceof CpiRefused) return { how: "undone" };
        throw error;
      }
    },
  }),
};

const unrecorded = (outcome: StepOutcome): StepOutcome => ({ ...outcome, record: () => undefined });

/** Replaces a step for flows that begin it, or resume its intent. */
function change(name: string, to: (begun: StepAttempt) => StepAttempt): void {
  const table = TABLES.find((one) => Object.hasOwn(one, name));
  const step = table?.[name];
  if (table === undefined || step === undefined) throw new Error(`bug: there is no step ${name}`);
  table[name] = {
    ...step,
    begin: (subject, context) => {
      const begun = step.begin(subject, context);
      return begun && to(begun);
    },
    resume: (version, intent) => to(step.resume(version, intent)),
  };
}

/** Returns a journal that drops the intents of a step. The outcome is recorded as usual. */
function withoutIntent(step: string, journal: Journal): Journal {
  const unwritten = new Set<number>();
  return {
    ...journal,
    commit: (entry) => {
      const { open, close } = entry;
      const left = open?.step === step;
      if (left) unwritten.add(open.number);
      const unknown = close !== undefined && unwritten.has(close.number);
      return journal.commit({
        ...entry,
        open: left ? undefined : open,
        close: unknown ? undefined : close,
      });
    },
  };
}

/** Notes the steps that this process begins. */
export function watchSteps(pointsPassed: () => number): readonly StartedStep[] {
  const begun: StartedStep[] = [];
  for (const table of TABLES)
    for (const [name, step] of Object.entries(table))
      table[name] = {
        ...step,
        begin: (subject, context) => {
          const at = pointsPassed();
          const made = step.begin(subject, context);
          if (made !== undefined) begun.push({ step: name, at });
          return made;
        },
      };
  return begun;
}
