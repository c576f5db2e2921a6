import type { NewTask } from "@slipway/director/tasks/task";
import type { Passed, PointId } from "./points.ts";
import type { IgnoreOrder } from "./scenario.ts";
import type { SecondFault } from "./second-fault.ts";

/** Job of a Director: a task, a request to its API, or to watch until all instances are well. */
export type Job = { readonly task: NewTask } | { readonly ignore: IgnoreOrder } | { readonly monitor: true };

/**
 * A part of a step that is switched off: how it is settled, what it records, what it says or takes back before it begins, that
 * a refusal while it is settled proves nothing.
 */
export interface Mutant {
  readonly step: string;
  readonly part: "settle" | "record" | "intent" | "invalidate" | "refusal";
}

/** Order for a child Director, passed as JSON in its second argument. */
export interface ChildOrder {
  readonly connection: object;
  /** Functions of the database that write. */
  readonly functions: readonly string[];
  /** Socket of the world. */
  readonly world: string;
  readonly uploadsDir: string;
  /** The points to stop at; undefined: none. */
  readonly stopAt?: readonly PointId[] | undefined;
  /** Seed of delays, one for each call, as on a busy machine. Undefined for no delays. */
  readonly uneven?: string | undefined;
  /** Jobs to do, each when the one before has ended. */
  readonly jobs: readonly Job[];
  /** True if unfinished tasks are canceled instead of resumed. */
  readonly cancels?: boolean | undefined;
  readonly mutant?: Mutant | undefined;
  /** A fault that one of its calls meets. */
  readonly second?: SecondFault | undefined;
  readonly enableCpiResizeDisk: boolean;
  readonly enableCpiUpdateDisk: boolean;
  readonly enableSnapshots: boolean;
  /** True if instances have DNS names that agents receive. */
  readonly dns: boolean;
  /** Agents are on the bus. */
  readonly nats: boolean;
  /** Milliseconds by which its clock is ahead of the machine's. */
  readonly laterMs: number;
}

export interface EndedTask {
  readonly id: number;
  readonly state: string;
  readonly result: string | null;
}

/** Report that the child prints if it lives to the end. */
export interface ChildReport {
  readonly points: readonly Passed[];
  /** Transactions that may have changed something, as far as they were seen. */
  readonly transactions: number;
  readonly tasks: readonly EndedTask[];
  /** The steps it has begun, and at which point. */
  readonly steps: readonly StartedStep[];
  /** Tasks that took more than one run, though the Director lived. */
  readonly interrupted: readonly InterruptedTask[];
  /** Errors outside of tasks. */
  readonly errors: readonly string[];
}

export interface InterruptedTask {
  readonly id: number;
  readonly runs: number;
  /** Warnings among its events. */
  readonly warnings: readonly string[];
}

/** A step that was begun, and how many points had been passed then. */
export interface StartedStep {
  readonly step: string;
  readonly at: number;
}
