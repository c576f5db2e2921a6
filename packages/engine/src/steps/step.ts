import type { JsonObject } from "@slipway/protocol/schema/json";
import type * as v from "valibot";
import type { Stray, Writes } from "../journal/writes.ts";
import type { InstanceGoal } from "../model/goal.ts";
import type { InstanceRecord } from "../model/records.ts";
import type { FlowContext } from "./context.ts";

/** The instance at hand: what it is to become, and what is recorded of it now. */
export interface StepSubject {
  readonly goal: InstanceGoal;
  /** As the steps before have left it. */
  readonly instance: InstanceRecord;
  /** How long it may take to be running: the shorter and the longer time. Null: nobody waits for it. */
  readonly watchMs: readonly [low: number, high: number] | null;
}

/** What a step is about. */
export type SubjectKind = "instance" | "vm" | "disk" | "stemcell" | "snapshot" | "subnet";

/** What `bosh events` says of a step: once when it begins, once when it is over. */
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

export interface Common<S, I, O> extends StepWords {
  readonly name: string;
  readonly subject: SubjectKind;
  /** What will be done, with every id it uses. Undefined: the records say that there is nothing to do. */
  intent(subject: S, context: FlowContext): I | undefined;
  /** `outcome` is undefined when it begins. */
  event?(intent: I, outcome: O | undefined): StepEvent;
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
  /** Asks somebody else when `settle` is refused or the agent fails. Throws when there is still no proof. */
  inDoubt?(intent: I, error: unknown, context: FlowContext): Promise<O | typeof UNDONE>;
  /** Why it was done in part only. That part is recorded, and the step fails. */
  failure?(outcome: O): unknown;
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

/** What `settle` of a step returns when an answer proves that the step was not done. */
export const UNDONE = Symbol("undone");

/** What a step's work came to. */
export interface Outcome {
  readonly event: StepEvent | undefined;
  /** Why the step fails although it is recorded; undefined: it does not. */
  readonly failure?: unknown;
  record(writes: Writes): void;
}

export type Settled =
  | { readonly how: "done"; readonly outcome: Outcome }
  | { readonly how: "undone" }
  | { readonly how: "stray"; readonly stray: Stray };

/** A step with its intent in hand. */
export interface Begun {
  /** As the journal keeps it; undefined: it keeps none of this kind. */
  readonly journaled: { readonly version: number; readonly intent: JsonObject } | undefined;
  readonly invalidate: ((writes: Writes) => void) | undefined;
  readonly event: StepEvent | undefined;
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
  /** Whether it has a way of its own to find out what became of it, other than being done again. */
  readonly settles: boolean;
  /** Whether there is something that the records may no longer claim once it is begun. */
  readonly invalidates: boolean;
  /** Of the form its intents have in the journal; undefined: it has none there. */
  readonly intentVersion: number | undefined;
  begin(subject: S, context: FlowContext): Begun | undefined;
  /** From what the journal has kept. */
  resume(version: number, intent: JsonObject): Begun;
  retry(error: unknown, tries: number, context: FlowContext): boolean;
}

/** Any step, for whoever has only its name and its intent. */
export type AnyStep = Step<never>;
