import type { TaskState, TaskType } from "@slipway/protocol/director/task";
import type { JsonObject } from "@slipway/protocol/schema/json";
import { sql } from "kysely";
import { awaitEarlierWrites, type Lease } from "../store/lease.ts";
import type { Db } from "../store/schema.ts";
import { Sealed } from "../store/sealed.ts";
import type { NewTask } from "./task.ts";

export interface ClaimedTask {
  readonly lease: Lease;
  readonly type: TaskType;
  readonly state: "processing" | "cancelling";
  readonly description: string;
  readonly user: string;
  readonly deployment: string | undefined;
  readonly contextId: string;
  readonly traceParent: string | undefined;
  readonly params: JsonObject;
}

export interface ClaimOptions {
  readonly owner: string;
  readonly leaseMs: number;
  /** Limits the claim to types of this list, or, with `others`, to all but them. */
  readonly types: readonly TaskType[];
  readonly others?: boolean;
  /** Claims canceled tasks of any type as well, to finish them. */
  readonly cancelled?: boolean;
  /** Tasks this owner runs already. */
  readonly running: readonly number[];
  /** True if no other Director uses this store: any other holder of a lease is dead. */
  readonly alone: boolean;
}

export async function enqueue(db: Db, task: NewTask): Promise<number> {
  const row = await db
    .insertInto("tasks")
    .values({
      type: task.type,
      description: task.description,
      username: task.user,
      deployment_name: task.deployment ?? null,
      context_id: task.contextId ?? "",
      trace_parent: task.traceParent ?? null,
      params_sealed: new Sealed(task.params),
      teams: sql<
        string[]
      >`coalesce((select teams from deployments where name = ${task.deployment ?? null}), '{}')`,
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  return row.id;
}

/** Takes the next task: first those that were interrupted, then the oldest that waits. */
export async function claim(db: Db, options: ClaimOptions): Promise<ClaimedTask | undefined> {
  const { rows } = await sql<{
    id: number;
    type: TaskType;
    state: "processing" | "cancelling";
    description: string;
    username: string;
    deployment_name: string | null;
    context_id: string;
    trace_parent: string | null;
    params_sealed: JsonObject;
    attempts: number;
  }>`
    update tasks set
      state = case when state = 'queued' then 'processing' else state end,
      started_at = coalesce(started_at, now()),
      attempts = attempts + 1,
      lease_owner = ${options.owner},
      lease_until = ${leaseEnd(options.leaseMs)}
    where id = (
      select id from tasks
      where state in ('queued', 'processing', 'cancelling')
        and ((type = any(${options.types}::text[])) <> ${options.others ?? false}::boolean
             or (state = 'cancelling' and ${options.cancelled ?? false}::boolean))
        and id <> all(${options.running}::bigint[])
        and (state = 'queued' or lease_owner is null or lease_owner = ${options.owner}
             or lease_until is null or lease_until < clock_timestamp() or ${options.alone}::boolean)
      order by state = 'queued', id
      for update skip locked limit 1)
    returning id, type, state, description, username, deployment_name, context_id, trace_parent, params_sealed,
      attempts`.execute(db);
  const row = rows[0];
  if (row === undefined) return undefined;
  if (row.attempts > 1) await awaitEarlierWrites(db, row.id);
  return {
    lease: { taskId: row.id, owner: options.owner, attempt: row.attempts },
    type: row.type,
    state: row.state,
    description: row.description,
    user: row.username,
    deployment: row.deployment_name ?? undefined,
    contextId: row.context_id,
    traceParent: row.trace_parent ?? undefined,
    params: row.params_sealed,
  };
}

/** The state of the task, or undefined when the lease is lost. */
export async function renew(db: Db, lease: Lease, leaseMs: number): Promise<TaskState | undefined> {
  const row = await db
    .updateTable("tasks")
    .set({ lease_until: leaseEnd(leaseMs) })
    .where("id", "=", lease.taskId)
    .where("lease_owner", "=", lease.owner)
    .where("attempts", "=", lease.attempt)
    .where("state", "in", ["processing", "cancelling"])
    .returning("state")
    .executeTakeFirst();
  return row?.state;
}

export interface Ending {
  readonly state: "done" | "error" | "cancelled";
  /** Result of at most 128 characters. */
  readonly result: string;
  /** The whole `result` output: it appears with the end of the task, so a resumed one cannot double it. */
  readonly output: string;
}

/** Ends the task and frees its locks, together. False: the lease is lost and nothing was written. */
export async function finish(db: Db, lease: Lease, ending: Ending): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    const row = await tx
      .updateTable("tasks")
      .set({
        state: ending.state,
        result: ending.result,
        finished_at: sql<Date>`now()`,
        // The ended task no longer needs them, and they may hold secrets.
        params_sealed: new Sealed({}),
        lease_owner: null,
        lease_until: null,
      })
      .where("id", "=", lease.taskId)
      .where("lease_owner", "=", lease.owner)
      .where("attempts", "=", lease.attempt)
      .where("state", "in", ["processing", "cancelling"])
      .returning("id")
      .executeTakeFirst();
    if (row === undefined) return false;
    if (ending.output !== "")
      await tx
        .insertInto("task_output")
        .values({ task_id: lease.taskId, type: "result", start: 0, data: Buffer.from(ending.output) })
        .execute();
    await tx.deleteFrom("locks").where("task_id", "=", lease.taskId).execute();
    return true;
  });
}

/** Hands the task back: it stays in its state and the next claim goes on with it. Its locks stay its own. */
export async function release(db: Db, lease: Lease): Promise<void> {
  await db
    .updateTable("tasks")
    .set({ lease_owner: null, lease_until: null })
    .where("id", "=", lease.taskId)
    .where("lease_owner", "=", lease.owner)
    .where("attempts", "=", lease.attempt)
    .where("state", "in", ["processing", "cancelling"])
    .execute();
}

/** Returns the tasks of this owner that are to be canceled. */
export async function cancelledOf(db: Db, owner: string): Promise<readonly number[]> {
  const rows = await db
    .selectFrom("tasks")
    .select("id")
    .where("state", "=", "cancelling")
    .where("lease_owner", "=", owner)
    .execute();
  return rows.map((row) => row.id);
}

const leaseEnd = (ms: number) => sql<Date>`clock_timestamp() + ${ms} * interval '1 millisecond'`;
