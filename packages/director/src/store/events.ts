import type { AuditEvent } from "@slipway/engine/model/audit-event";
import type { JsonObject } from "@slipway/protocol/schema/json";
import { sql } from "kysely";
import { type Lease, leaseLostAs, mine } from "./lease.ts";
import type { Db } from "./schema.ts";

export interface EventRecord {
  readonly id: number;
  readonly parentId: number | null;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly user: string;
  readonly action: string;
  readonly objectType: string;
  readonly objectName: string | null;
  readonly error: string | null;
  readonly taskId: number | null;
  readonly deployment: string | null;
  readonly instance: string | null;
  readonly context: JsonObject;
}

export interface EventFilter {
  readonly beforeId?: number | undefined;
  /** Times are milliseconds since 1970. */
  readonly beforeTime?: number | undefined;
  readonly afterTime?: number | undefined;
  readonly deployment?: string | undefined;
  readonly task?: number | undefined;
  readonly instance?: string | undefined;
  readonly user?: string | undefined;
  readonly action?: string | undefined;
  readonly objectType?: string | undefined;
  readonly objectName?: string | undefined;
  /** Limits the list to events of these teams' tasks and deployments, and of this user. */
  readonly seenBy?: { readonly teams: readonly string[]; readonly user: string } | undefined;
}

const MOST = 200;

/** Stands for a parent: the database finds the event of the task that began this (migration 18). */
export const PARENT_OF_SAME_TASK = 0;

/** Adds an event of a running task, fenced by its lease. Returns the id, for the event that ends what this one began. */
export async function addTaskEvent(db: Db, lease: Lease, user: string, event: AuditEvent): Promise<number> {
  try {
    const { rows } = await sql<{ id: number }>`
      ${mine(lease)}
      insert into events (parent_id, username, action, object_type, object_name, error, task_id, deployment, instance,
        context)
      select ${event.ends === true ? PARENT_OF_SAME_TASK : (event.parentId ?? null)}::bigint, ${user}, ${event.action}, ${event.objectType}, ${event.objectName},
        ${event.error ?? null}, ${lease.taskId}::bigint, ${event.deployment ?? null}, ${event.instance ?? null},
        ${JSON.stringify(event.context ?? {})}::jsonb
      from mine where mine.held returning id`.execute(db);
    return rows[0]?.id ?? 0;
  } catch (error) {
    throw leaseLostAs(error, lease.taskId);
  }
}

const AT_ONCE = 5000;

/**
 * Deletes all but the newest so many, and but those that one of them has ended. Returns how many went.
 */
export async function deleteOldEvents(db: Db, keep: number): Promise<number> {
  let gone = 0;
  for (;;) {
    const { numAffectedRows } = await sql`
      delete from events where id in (
        select id from events where id < (
          select least(min(id), min(parent_id)) from (
            select id, parent_id from events order by id desc limit ${keep}) as newest)
        order by id limit ${AT_ONCE})`.execute(db);
    const affected = Number(numAffectedRows ?? 0n);
    gone += affected;
    if (affected < AT_ONCE) return gone;
  }
}

/** Returns its id, for the event that ends what this one began. */
export async function addEvent(
  db: Db,
  event: AuditEvent & {
    readonly user: string;
    readonly taskId?: number | undefined;
    /** Milliseconds since 1970; now, if it is left out. */
    readonly at?: number | undefined;
  },
): Promise<number> {
  const { id } = await db
    .insertInto("events")
    .values({
      parent_id: event.parentId ?? null,
      ...(event.at !== undefined && { at: new Date(event.at) }),
      username: event.user,
      action: event.action,
      object_type: event.objectType,
      object_name: event.objectName,
      error: event.error ?? null,
      task_id: event.taskId ?? null,
      deployment: event.deployment ?? null,
      instance: event.instance ?? null,
      context: JSON.stringify(event.context ?? {}),
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  return id;
}

/** Reports whether an earlier run of this task has done that already. Events are written together with what they record. */
export async function wasDone(
  db: Db,
  taskId: number,
  what: Pick<AuditEvent, "action" | "objectType" | "objectName">,
): Promise<boolean> {
  const row = await db
    .selectFrom("events")
    .select("id")
    .where("task_id", "=", taskId)
    .where("action", "=", what.action)
    .where("object_type", "=", what.objectType)
    .where("object_name", "=", what.objectName)
    .executeTakeFirst();
  return row !== undefined;
}

/** Returns what a task has created of this type, in this run or an earlier one. */
export async function createdBy(db: Db, taskId: number, objectType: string): Promise<string | undefined> {
  const row = await db
    .selectFrom("events")
    .select("object_name")
    .where("task_id", "=", taskId)
    .where("action", "=", "create")
    .where("object_type", "=", objectType)
    .executeTakeFirst();
  return row?.object_name ?? undefined;
}

/** Lists the newest 200 that match, newest first. Each filter but action and object type has an index (migration 30). */
export async function listEvents(db: Db, filter: EventFilter = {}): Promise<EventRecord[]> {
  let query = db.selectFrom("events").selectAll().limit(MOST);
  // A page of before_id is right behind that event. Other pages of a time are found by the index of times.
  const byTime = filter.beforeId === undefined && (filter.beforeTime ?? filter.afterTime) !== undefined;
  if (byTime) query = query.orderBy("at", "desc");
  query = query.orderBy("id", "desc");
  if (filter.beforeId !== undefined) query = query.where("id", "<", filter.beforeId);
  if (filter.beforeTime !== undefined) query = query.where("at", "<", new Date(filter.beforeTime));
  if (filter.afterTime !== undefined) query = query.where("at", ">=", new Date(filter.afterTime));
  const equal = {
    deployment: filter.deployment,
    task_id: filter.task,
    instance: filter.instance,
    username: filter.user,
    action: filter.action,
    object_type: filter.objectType,
    object_name: filter.objectName,
  };
  for (const [column, value] of Object.entries(equal) as [keyof typeof equal, string | number | undefined][])
    if (value !== undefined) query = query.where(column, "=", value);
  if (filter.seenBy !== undefined) {
    const { teams, user } = filter.seenBy;
    // A task remembers whose it was; a name may be another team's by now.
    query = query.where(sql<boolean>`(username = ${user} or coalesce(
      (select t.teams && ${teams}::text[] from tasks t where t.id = events.task_id),
      (select d.teams && ${teams}::text[] from deployments d where d.name = events.deployment), false))`);
  }
  const rows = await query.execute();
  return rows.map(toEvent).sort((a, b) => b.id - a.id);
}

export async function findEvent(db: Db, id: number): Promise<EventRecord | undefined> {
  const row = await db.selectFrom("events").selectAll().where("id", "=", id).executeTakeFirst();
  return row && toEvent(row);
}

interface EventRow {
  readonly id: number;
  readonly parent_id: number | null;
  readonly at: Date;
  readonly username: string;
  readonly action: string;
  readonly object_type: string;
  readonly object_name: string | null;
  readonly error: string | null;
  readonly task_id: number | null;
  readonly deployment: string | null;
  readonly instance: string | null;
  readonly context: JsonObject;
}

const toEvent = (row: EventRow): EventRecord => ({
  id: row.id,
  parentId: row.parent_id,
  at: row.at.getTime(),
  user: row.username,
  action: row.action,
  objectType: row.object_type,
  objectName: row.object_name,
  error: row.error,
  taskId: row.task_id,
  deployment: row.deployment,
  instance: row.instance,
  context: row.context,
});
