import type { Journal } from "@slipway/engine/journal/journal";
import type { AuditEvent } from "@slipway/engine/model/audit-event";
import type { ConversationLine } from "@slipway/protocol/director/conversation-line";
import type { TaskType } from "@slipway/protocol/director/task";
import type { JsonObject } from "@slipway/protocol/schema/json";
import type { Db } from "../store/schema.ts";

export interface NewTask {
  readonly type: TaskType;
  readonly description: string;
  readonly user: string;
  readonly deployment?: string | undefined;
  /** Id of the request that asks for the task. */
  readonly contextId?: string | undefined;
  /** The W3C `traceparent` of that request. */
  readonly traceParent?: string | undefined;
  /** Parameters of the task; kept with it, encrypted and until it has ended, for a resumed run. */
  readonly params: JsonObject;
}

/** A stage of the event log: `Updating instance`, tagged with its group. */
export interface Stage {
  /** Runs `work` between a `started` and a `finished` (or `failed`) line. */
  step<T>(task: string, work: (progress: (status: string) => void) => Promise<T>): Promise<T>;
  /** The same for what is not one function: the lines are written when they are asked for. */
  begin(task: string): StageStep;
}

export interface StageStep {
  progress(status: string): void;
  finished(): void;
  failed(error: unknown): void;
}

/** Interface of a task's work to its run. */
export interface TaskContext {
  readonly id: number;
  readonly type: TaskType;
  readonly user: string;
  readonly deployment: string | undefined;
  /** 1 at first, more after a crash. */
  readonly attempt: number;
  /** Aborted when the task is cancelled; the reason is `TaskCancelled`. */
  readonly signal: AbortSignal;
  stage(name: string, tags?: readonly string[], total?: number): Stage;
  warn(message: string): void;
  deprecated(message: string): void;
  debug(line: string): void;
  cpi(text: string): void;
  /** Logs one call to a CPI or an agent, without its secrets. */
  conversation(line: ConversationLine): void;
  /** Adds a JSON document to the result output, one per line. */
  result(document: unknown): void;
  audit(event: AuditEvent): Promise<number>;
  /** Runs work once the task has ended, however it ended, and that is written: never in a run that goes on elsewhere. */
  atEnd(work: () => Promise<unknown>): void;
  /** Changes that belong to no step: all of them while this run of the task may write, or none. */
  write<T>(work: (db: Db) => Promise<T>): Promise<T>;
  /** Journal for steps; fenced in the same way. */
  readonly journal: Journal;
  /** Takes a lock for the rest of `work`; another holder is named in the error, with since when. */
  withLock<T>(name: string, waitMs: number, work: () => Promise<T>): Promise<T>;
}

/** The work of one type of task. Run again from the start after a crash. Returns the task's `result` text. */
export type TaskWork = (params: JsonObject, context: TaskContext) => Promise<string>;

/** Operations on tasks that the API needs. */
export interface Tasks {
  enqueue(task: NewTask): Promise<number>;
  /** Cancels a task; returns false if it is over already. */
  cancel(id: number): Promise<boolean>;
}

export class TaskCancelled extends Error {
  override readonly name = "TaskCancelled";
}

/** Tells whether the task ends here, and is not taken up elsewhere. */
export const isCancelled = ({ signal }: Pick<TaskContext, "signal">): boolean =>
  signal.aborted && signal.reason instanceof TaskCancelled;
