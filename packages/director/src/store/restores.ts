import { sql } from "kysely";
import type pg from "pg";
import type { Db } from "./schema.ts";

export interface Restored {
  readonly backup: string;
  readonly takenAt: string;
}

/**
 * Distance by which ids run ahead of the backup. Another life has given some away since, perhaps one of an earlier restore of the
 * same backup: so many a second, and some more. Agents would also keep names of a version that they have had.
 */
const AHEAD = { atOnce: 1_000_000, perSecond: 10 };

/** Error code that ends the event log of a failed task. */
const ENDED_CODE = 100;

/**
 * Runs in the transaction that fills a database from a backup. Another life of this Director may have gone on after the backup:
 * no task is resumed, no lock held, no step taken up, and deployments wait until an operator has looked at their cloud.
 */
export async function afterRestore(client: pg.ClientBase, { backup, takenAt }: Restored): Promise<void> {
  await client.query(
    `select setval(format('%I.%I', schemaname, sequencename)::regclass, coalesce(last_value, 0) + $1::bigint
       + $2::bigint * greatest(0, extract(epoch from clock_timestamp() - $3::timestamptz))::bigint)
     from pg_sequences where schemaname = current_schema() and sequencename <> 'restores_id_seq'`,
    [AHEAD.atOnce, AHEAD.perSecond, takenAt],
  );
  const { rows } = await client.query<{ id: number }>(
    "insert into restores (backup, taken_at) values ($1, $2) returning id",
    [backup, takenAt],
  );
  const id = rows[0]?.id;
  const why = `The Director was restored from a backup of ${takenAt}. What this task did after it is not known, so it is not resumed.`;
  const event = JSON.stringify({
    time: Math.floor(Date.parse(takenAt) / 1000),
    error: { code: ENDED_CODE, message: why },
  });
  const open = "state in ('queued', 'processing', 'cancelling')";
  await client.query(
    `insert into task_output (task_id, type, start, data)
     select t.id, 'event', coalesce((select max(o.start + length(o.data)) from task_output o
       where o.task_id = t.id and o.type = 'event'), 0), convert_to($1, 'UTF8') from tasks t where ${open}`,
    [`${event}\n`],
  );
  await client.query(
    `update tasks set state = 'error', result = $1, finished_at = now(), lease_owner = null, lease_until = null,
     params_sealed = '{}' where ${open}`,
    [why],
  );
  await client.query("delete from locks");
  await client.query("update intents set restored = true");
  await client.query("update deployments set restored = $1", [id]);
  await client.query(
    `insert into events (username, action, object_type, object_name, context)
     values ('_director', 'restore', 'director', (select value from director_attributes where name = 'uuid'), $1)`,
    [JSON.stringify({ backup, taken_at: takenAt })],
  );
}

/** Records that the database has more than the backup from now on. */
export async function restoreTaken(db: Db): Promise<void> {
  await db
    .updateTable("restores")
    .set({ started_at: sql<Date>`now()` })
    .where("started_at", "is", null)
    .execute();
}

export interface SinceRestore {
  /** Time of the backup in milliseconds since 1970. */
  readonly takenAt: number;
  readonly unseen: readonly string[];
}

/** Undefined when there was none, or all deployments were looked at since. */
export async function sinceRestore(db: Db): Promise<SinceRestore | undefined> {
  const unseen = await unseenSinceRestore(db);
  if (unseen.length === 0) return undefined;
  return {
    takenAt: Math.max(...unseen.map(({ takenAt }) => takenAt)),
    unseen: unseen.map(({ deployment }) => deployment),
  };
}

/** Returns the deployments whose cloud was not looked at since the restore, and the time of the backup. */
export async function unseenSinceRestore(
  db: Db,
): Promise<readonly { readonly deployment: string; readonly takenAt: number }[]> {
  const rows = await db
    .selectFrom("deployments as d")
    .innerJoin("restores as r", "r.id", "d.restored")
    .select(["d.name", "r.taken_at"])
    .orderBy("d.name")
    .execute();
  return rows.map(({ name, taken_at }) => ({ deployment: name, takenAt: taken_at.getTime() }));
}

/** Records that the cloud of a deployment was looked at, and has nothing that the records do not know. */
export async function seenSinceRestore(db: Db, deployment: string): Promise<void> {
  await db
    .updateTable("deployments")
    .set({ restored: null })
    .where("name", "=", deployment)
    .where("restored", "is not", null)
    .execute();
}
