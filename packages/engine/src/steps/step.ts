import type { JsonObject } from "@slipway/protocol/schema/json";
import type * as v from "valibot";
import type { Stray, Writes } from "../journal/writes.ts";
import type { InstanceGoal } from "../model/goal.ts";
import type { InstanceRecord } from "../model/records.ts";
import type { FlowContext } from "./context.ts";

/** The instance at hand: what it is to become, and what is recorded of it now. */
export interface StepSubject {
  readonly goal: InstanceGoal;
  /** Record as the steps before have left it. */
  readonly instance: InstanceRecord;
  /** Time that the instance may take to be running: lower and upper limit. Null: the Director does not wait. */
  readonly watchMs: readonly [low: number, high: number] | null;
}

/** Kind of resource that a step changes. */
export type SubjectKind = "instance" | "vm" | "disk" | "stemcell" | "snapshot" | "subnet";

/** Event of a step for `bosh events`: one when it begins, one when it ends. */
export interface StepEvent {
  readonly action: string;
  readonly objectType: SubjectKind;
  /** Null: what is made has no name before. */
  readonly objectName: string | null;
  /** `group/uuid`, where the step is on something that an instance had. */
  readonly instance?: string | undefined;
}

/** For the words of `create-env`. */
export interface About {
  readonly stemcell?: string | undefined;
  /** Name of the cloud's machines: VMs, or sandboxes of this machine. */
  readonly machine: "VM" | "sandbox";
}

/** Texts of a step, for tasks, dry runs and `create-env`. */
export interface StepWords {
  /** The calls it makes, for a dry run: `cpi create_vm`, `agent mount_disk`. */
  readonly calls: readonly string[];
  /** Calls that are left out with `--skip-drain`. */
  readonly drainCalls?: readonly string[] | undefined;
  /** Text for the task's event log, in upstream's words if it has any. Undefined for very short steps. */
  readonly status?: string | undefined;
  /** Line that `create-env` prints, in upstream's words if it has any. */
  readonly line?: ((instance: InstanceRecord, about: About) => string) | undefined;
}

export interface Common<S, I, O> extends StepWords {
  readonly name: string;
  readonly subject: SubjectKind;
  /** Returns the planned work, with every id it uses. Undefined: by the records there is nothing to do. */
  intent(subject: S, context: FlowContext): I | undefined;
  /** `outcome` is undefined when it begins. */
  event?(intent: I, outcome: O | undefined): StepEvent;
  /** True if the step repeats while it finds something to do: one intent per resource. */
  readonly loop?: true;
}

/** A step that changes the records and makes no calls. */
export interface RecordStep<S, I> extends Common<S, I, void> {
  readonly kind: "record";
  record(intent: I, writes: Writes): void;
}

/** Calls that are harmless twice: after a crash the plan takes the step again. Nothing of it is in the journal. */
export interface RerunStep<S, I, O> extends Common<S, I, O> {
  readonly kind: "rerun";
  /** Removes claims from the records that do not hold from the first call on. Committed before the call. */
  invalidate?(intent: I, writes: Writes): void;
  run(intent: I, context: FlowContext): Promise<O>;
  record?(intent: I, outcome: O, writes: Writes): void;
}

/** The form of an intent that the journal keeps. `version` goes up when it changes; older ones are still read. */
export interface Journaled<I> {
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
  /**
   * Finds out from the intent alone what became of it. `run`: by doing it again, which is harmless. `UNDONE`: an answer
   * proves that it was not done. A refusal proves nothing about the first call: it is thrown.
   */
  readonly settle: "run" | ((intent: I, context: FlowContext) => Promise<O | typeof UNDONE>);
  /** Asks another source if `settle` is refused or the agent fails. Throws if there is still no proof. */
  inDoubt?(intent: I, error: unknown, context: FlowContext): Promise<O | typeof UNDONE>;
  /** Why it was done in part only. That part is recorded, and the step fails. */
  failure?(outcome: O): unknown;
  /** Removes claims from the records that do not hold if the step has begun with unknown outcome. */
  invalidate?(intent: I, writes: Writes): void;
}

/** Makes something in the cloud that has no name before. Settled by its request id, or else noted as a stray. */
export interface CreateStep<S, I extends { readonly cpi: string; readonly requestId: string }, O>
  extends Common<S, I, O>,
    Journaled<I> {
  readonly kind: "create";
  run(intent: I, context: FlowContext): Promise<O>;
  record(intent: I, outcome: O, writes: Writes): void;
  /** Describes what may exist if the CPI cannot say. */
  stray(intent: I, context: FlowContext): Pick<Stray, "kind" | "about" | "addresses">;
  /** Returns true if a failure is worth another try, with a new intent. `tries` counts the tries so far. */
  retry?(error: unknown, tries: number, context: FlowContext): boolean;
}

/** Returned by `settle` if an answer proves that the step was not done. */
export const UNDONE = Symbol("undone");

/** Outcome of a step's work. */
export interface StepOutcome {
  readonly event: StepEvent | undefined;
  /** Why the step fails although it is recorded; undefined: it does not. */
  readonly failure?: unknown;
  record(writes: Writes): void;
}

export type Settled =
  | { readonly how: "done"; readonly outcome: StepOutcome }
  | { readonly how: "undone" }
  | { readonly how: "stray"; readonly stray: Stray };

/** A step with its intent in hand. */
export interface StepAttempt {
  /** Intent as the journal stores it; undefined if steps of this kind are not journaled. */
  readonly journaled: { readonly version: number; readonly intent: JsonObject } | undefined;
  readonly invalidate: ((writes: Writes) => void) | undefined;
  readonly event: StepEvent | undefined;
  run(context: FlowContext): Promise<StepOutcome>;
  settle(context: FlowContext): Promise<Settled>;
  /** Describes the stray to record if the outcome cannot be found out; undefined: the step leaves none. */
  stray(context: FlowContext): Stray | undefined;
}

/** A step as the table holds it. The types of its intent and outcome stay inside. */
export interface Step<S> extends StepWords {
  readonly name: string;
  readonly kind: "record" | "rerun" | "call" | "create";
  readonly subject: SubjectKind;
  readonly loop: boolean;
  /** True if the outcome of the step changes the records. */
  readonly records: boolean;
  /** True if the step can find out its outcome other than by running again. */
  readonly settles: boolean;
  /** True if the records claim something that does not hold once the step has begun. */
  readonly invalidates: boolean;
  /** Version of the intent in the journal; undefined if the step is not journaled. */
  readonly intentVersion: number | undefined;
  begin(subject: S, context: FlowContext): StepAttempt | undefined;
  /** From what the journal has kept. */
  resume(version: number, intent: JsonObject): StepAttempt;
  retry(error: unknown, tries: number, context: FlowContext): boolean;
}

/** Any step, for callers that have only its name and its intent. */
export type AnyStep = Step<never>;
