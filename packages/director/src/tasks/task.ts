import type { JsonObject } from "@slipway/protocol/schema/json";
import type { ConversationLine } from "../conversation/line.ts";

export type TaskState = "queued" | "processing" | "cancelling" | "cancelled" | "done" | "error" | "timeout";

/** Upstream's names; `GET /tasks` filters by them. */
export type TaskType =
  | "update_deployment"
  | "delete_deployment"
  | "update_stemcell"
  | "delete_stemcell"
  | "update_instance"
  | "instances"
  | "vms"
  | "attach_disk"
  | "orphan_disk"
  | "delete_orphan_disks"
  | "delete_vm"
  | "delete_orphaned_vms"
  | "cck_scan"
  | "cck_apply"
  | "cck_scan_and_fix"
  | "renew_certificates";

export interface NewTask {
  readonly type: TaskType;
  readonly description: string;
  readonly user: string;
  readonly deployment?: string | undefined;
  readonly contextId?: string | undefined;
  /** What the task is to do; kept with it, so that a resumed one knows. No secrets. */
  readonly params: JsonObject;
}

/** A stage of the event log: `Updating instance`, tagged with its group. */
export interface Stage {
  /** Runs `work` between a `started` and a `finished` (or `failed`) line. */
  step<T>(task: string, work: (progress: (status: string) => void) => Promise<T>): Promise<T>;
}

/** An entry of `bosh events`. */
export interface AuditEvent {
  readonly action: string;
  readonly objectType: string;
  readonly objectName: string;
  readonly deployment?: string | undefined;
  readonly instance?: string | undefined;
  readonly context?: JsonObject | undefined;
  readonly error?: string | undefined;
  readonly parentId?: number | undefined;
}

/** What the work of a task has in hand. */
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
  debug(line: string): void;
  cpi(text: string): void;
  /** One call to a CPI or an agent, without its secrets. */
  conversation(line: ConversationLine): void;
  /** One JSON document per line of the result output. */
  result(document: unknown): void;
  audit(event: AuditEvent): Promise<number>;
  /** Takes a lock for the rest of `work`; another holder is named in the error, with since when. */
  withLock<T>(name: string, waitMs: number, work: () => Promise<T>): Promise<T>;
}

/** The work of one type of task. Run again from the start after a crash. Returns the task's `result` text. */
export type TaskWork = (params: JsonObject, context: TaskContext) => Promise<string>;

/** The door the API uses. */
export interface Tasks {
  enqueue(task: NewTask): Promise<number>;
  /** False when it is over already. */
  cancel(id: number): Promise<boolean>;
}

export class TaskCancelled extends Error {
  override readonly name = "TaskCancelled";
}

/** An error whose upstream number the CLI's users know. */
export class DirectorError extends Error {
  override readonly name = "DirectorError";
  readonly code: number;
  readonly status: number;

  constructor(
    code: number,
    message: string,
    options: { readonly status?: number; readonly cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.status = options.status ?? 400;
  }
}
