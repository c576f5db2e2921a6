import type { Clock } from "@slipway/kernel/clock";
import type { TaskState, TaskType, task, tasksQuery } from "@slipway/protocol/director/task";
import type { ReplyOf } from "@slipway/protocol/schema/reply-of";
import { sql } from "kysely";
import type { Db } from "../store/schema.ts";
import { BadTaskQuery } from "./errors.ts";
import { eventLine } from "./events.ts";
import { CANCELLED_CODE } from "./failure.ts";

export type TaskWire = ReplyOf<typeof task>;

export interface TaskFilter {
  readonly states?: readonly string[] | undefined;
  /** True to include the types that are seldom asked for. */
  readonly everything: boolean;
  readonly limit?: number | undefined;
  readonly deployment?: string | undefined;
  readonly contextId?: string | undefined;
  /** Limits the list to tasks of one of these teams. */
  readonly teams?: readonly string[] | undefined;
}

/** The query of `GET /tasks`, as it comes. */
export type TaskQuery = Partial<ReplyOf<typeof tasksQuery>>;

/** Types that `verbose=1` shows: upstream's list, with types that are still to come. */
const SHOWN: readonly string[] = [
  "attach_disk",
  "create_snapshot",
  "delete_deployment",
  "delete_release",
  "delete_snapshot",
  "delete_stemcell",
  "run_errand",
  "snapshot_deployment",
  "update_instance",
  "update_deployment",
  "update_release",
  "update_stemcell",
  "export_release",
];

export function taskFilter(query: TaskQuery): TaskFilter {
  const { state, verbose = "1", limit } = query;
  if (limit !== undefined && !/^-?\d{1,9}$/.test(limit))
    throw BadTaskQuery({ field: "limit", given: limit.slice(0, 40), expected: "a whole number" });
  return {
    states: state
      ?.split(",")
      .map((one) => one.trim())
      .filter((one) => one !== ""),
    everything: verbose !== "1",
    limit: limit === undefined ? undefined : Math.max(1, Number(limit)),
    deployment: query.deployment,
    contextId: query.context_id,
  };
}

const COLUMNS = [
  "id",
  "state",
  "description",
  "finished_at",
  "started_at",
  "result",
  "username",
  "deployment_name",
  "context_id",
] as const;

/** Newest first. */
export async function listTasks(db: Db, filter: TaskFilter): Promise<readonly TaskWire[]> {
  const { states, deployment, contextId, teams, limit } = filter;
  let query = db.selectFrom("tasks").select(COLUMNS).orderBy("id", "desc");
  if (states !== undefined) query = query.where(sql<boolean>`state = any(${states}::text[])`);
  if (!filter.everything) query = query.where(sql<boolean>`type = any(${SHOWN}::text[])`);
  if (deployment !== undefined) query = query.where("deployment_name", "=", deployment);
  if (contextId !== undefined) query = query.where("context_id", "=", contextId);
  if (teams !== undefined) query = query.where(sql<boolean>`teams && ${teams}::text[]`);
  if (limit !== undefined) query = query.limit(limit);
  return (await query.execute()).map(toWire);
}

export async function findTask(db: Db, id: number): Promise<TaskWire | undefined> {
  const row = await db.selectFrom("tasks").select(COLUMNS).where("id", "=", id).executeTakeFirst();
  return row === undefined ? undefined : toWire(row);
}

/** Returns the teams of the deployment a task was for; undefined if the task does not exist. */
export async function teamsOfTask(db: Db, id: number): Promise<readonly string[] | undefined> {
  const row = await db.selectFrom("tasks").select("teams").where("id", "=", id).executeTakeFirst();
  return row?.teams;
}

/** Reports whether one of these teams had a task with this result. */
export async function hasResultOf(db: Db, result: string, teams: readonly string[]): Promise<boolean> {
  const row = await db
    .selectFrom("tasks")
    .select("id")
    .where("result", "=", result)
    .where(sql<boolean>`teams && ${teams}::text[]`)
    .executeTakeFirst();
  return row !== undefined;
}

interface Row {
  readonly id: number;
  readonly state: TaskState;
  readonly description: string;
  readonly finished_at: Date | null;
  readonly started_at: Date | null;
  readonly result: string | null;
  readonly username: string;
  readonly deployment_name: string | null;
  readonly context_id: string;
}

const toWire = (row: Row): TaskWire => ({
  id: row.id,
  state: row.state,
  description: row.description,
  timestamp: seconds(row.finished_at),
  started_at: seconds(row.started_at),
  result: row.result,
  user: row.username,
  deployment: row.deployment_name,
  context_id: row.context_id,
});

const seconds = (time: Date | null): number | null =>
  time === null ? null : Math.floor(time.getTime() / 1000);

/** Selects the tasks to cancel; an absent field matches all. */
export interface CancelFilter {
  readonly id?: number | undefined;
  readonly deployment?: string | undefined;
  readonly states: readonly TaskState[];
  readonly types?: readonly TaskType[] | undefined;
}

/** Says in the event log of tasks that have said nothing yet, but for those of `types`, what they wait for. */
export async function noteWaiting(
  db: Db,
  clock: Clock,
  types: readonly TaskType[],
  why: string,
): Promise<void> {
  const line = Buffer.from(eventLine(clock, { type: "warning", message: why }));
  // Locked, so that none of them is begun before the line is there.
  await sql`
    with waiting as materialized (
      select id from tasks where state = 'queued' and type <> all(${types}::text[]) for update skip locked)
    insert into task_output (task_id, type, start, data)
    select id, 'event', 0, ${line}::bytea from waiting
    on conflict do nothing`.execute(db);
}

export const cancelledMessage = (id: number): string => `Task ${id} cancelled`;

/**
 * Cancels tasks. A waiting task is over at once and never runs; a running one gets the signal, and ends itself. Returns the ids
 * of both.
 */
export async function cancelTasks(db: Db, clock: Clock, filter: CancelFilter): Promise<readonly number[]> {
  return db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ id: number; state: TaskState }>`
      with picked as materialized (
        select id, state from tasks
        where state in ('queued', 'processing', 'cancelling')
          and state = any(${filter.states}::text[])
          and (${filter.id ?? null}::bigint is null or id = ${filter.id ?? null})
          and (${filter.deployment ?? null}::text is null or deployment_name = ${filter.deployment ?? null})
          and (${filter.types ?? null}::text[] is null or type = any(${filter.types ?? null}::text[]))
        order by id for update)
      update tasks set
        state = case when picked.state = 'queued' then 'cancelled' else 'cancelling' end,
        result = case when picked.state = 'queued' then 'Task ' || tasks.id || ' cancelled' else tasks.result end,
        finished_at = case when picked.state = 'queued' then now() else tasks.finished_at end
      from picked where tasks.id = picked.id
      returning tasks.id, tasks.state`.execute(tx);
    for (const { id } of rows.filter((row) => row.state === "cancelled")) {
      const line = eventLine(clock, { error: { code: CANCELLED_CODE, message: cancelledMessage(id) } });
      // A task that has never run has no output, but perhaps a line that says what it waits for.
      await sql`
        insert into task_output (task_id, type, start, data)
        select ${id}, 'event', coalesce(max(start + length(data)), 0), ${Buffer.from(line)}::bytea
        from task_output where task_id = ${id} and type = 'event'`.execute(tx);
    }
    return rows.map((row) => row.id);
  });
}
