import type { NewTask } from "@slipway/director/tasks/task";
import type { ProblemRecord } from "@slipway/engine/model/problems";
import type { InstanceRecord } from "@slipway/engine/model/records";
import type { DirectorRecords } from "../world/invariants.ts";
import type { SimCpiOptions } from "../world/sim-cpi.ts";
import type { SimWorld } from "../world/world.ts";

/** State that a scenario can read before it chooses its next move: ids are known only then. */
export interface View {
  readonly world: SimWorld;
  readonly remembered: DirectorRecords;
  readonly problems: readonly ProblemRecord[];
  readonly uploadsDir: string;
  readonly releases: readonly {
    readonly name: string;
    readonly version: string;
    readonly blobs: readonly string[];
  }[];
  /** Blobs of releases that the Director keeps. */
  readonly blobs: readonly string[];
  /** Packages that were compiled: each row there is. */
  readonly compiled: readonly { readonly name: string; readonly version: string; readonly blob: string }[];
  /** Variables that the Director generated: `name` as often as there are versions of it. */
  readonly variables: readonly string[];
  /** Returns the instance at this place of a group. Fails if there is no such instance. */
  instance(group: string, index?: number): InstanceRecord;
}

/** `PUT .../ignore`: a write of the API that is no task. */
export interface IgnoreOrder {
  readonly deployment: string;
  readonly group: string;
  readonly instance: string;
  readonly ignore: boolean;
}

/** One thing that happens: a task, a request to the API, or something behind the Director's back. */
export type Move =
  | { readonly task: NewTask | ((view: View) => NewTask); readonly ends?: "error" }
  | { readonly ignore: (view: View) => IgnoreOrder }
  /** The Director's monitor watches, until all are well. */
  | { readonly monitor: true }
  | { readonly configs: readonly StoredConfig[] }
  | { readonly world: (view: View) => void | Promise<void> };

/** Config in the form in which the API stores it. */
export interface StoredConfig {
  readonly type: "cloud" | "cpi";
  readonly name: string;
  readonly content: string;
}

/** The move that is killed on its way. */
export type KilledMove = Exclude<Move, { readonly world: unknown } | { readonly configs: unknown }>;

/** A way to get somewhere, and the move that is killed there. */
export interface CrashScenario {
  readonly name: string;
  readonly cpi: Pick<SimCpiOptions, "resizes" | "updates"> & { readonly remembers: boolean };
  /** The Director takes snapshots, also before it updates instances. */
  readonly snapshots?: boolean;
  /** The Director gives instances names, and tells agents of them. */
  readonly dns?: boolean;
  /** Agents are on the bus. */
  readonly nats?: boolean;
  readonly before: readonly Move[];
  readonly move: KilledMove;
  /** Stored after it was killed, before it is taken up again. */
  readonly meanwhile?: readonly StoredConfig[] | undefined;
  /** Repeated after the resumed task, it must find nothing to do. */
  readonly again?: NewTask | undefined;
  /**
   * The move is not taken up again: the operator cancels it, and does this to have what was before. It must end with what
   * was before.
   */
  readonly goesBack?: NewTask | undefined;
  /** Days that have passed when the move is made. */
  readonly daysLater?: number;
  /** Disks it is to delete, with what is on them. No other is ever deleted. */
  readonly deletes?: (view: View) => readonly string[];
  /**
   * Returns violations of what must hold at the end, besides the invariants and the comparison with a run without a
   * crash.
   */
  readonly expects?: (view: View) => readonly string[];
}
