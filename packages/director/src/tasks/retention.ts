import { sql } from "kysely";
import { inTransaction } from "../store/open.ts";
import type { Db } from "../store/schema.ts";

const AT_ONCE = 500;
const DAY_MS = 86_400_000;

/** Limits of the tasks that are kept after their end. */
export interface KeptTasks {
  /** Number of tasks of each type. */
  readonly perType: number;
  /** Age in days; undefined for no limit. */
  readonly days?: number | undefined;
  /** The same for tasks of some deployments. */
  readonly deployments?: readonly { readonly name: string; readonly days: number }[] | undefined;
}

/** Deletes finished tasks that are too many or too old, with their outputs. Returns how many went. */
export async function deleteOldTasks(db: Db, kept: KeptTasks, now: number): Promise<number> {
  const before = (days: number) => new Date(now - days * DAY_MS).toISOString();
  const ages = [
    ...(kept.days === undefined ? [] : [sql`finished_at < ${before(kept.days)}::timestamptz`]),
    ...(kept.deployments ?? []).map(
      ({ name, days }) => sql`(deployment_name = ${name} and finished_at < ${before(days)}::timestamptz)`,
    ),
  ];
  let gone = 0;
  for (;;) {
    const { numAffectedRows } = await sql`
      delete from tasks where id in (
        select id from (
          select id, finished_at, deployment_name, row_number() over (partition by type order by id desc) as place
          from tasks where state in ('done', 'error', 'cancelled', 'timeout')) as finished
        where ${sql.join([sql`place > ${kept.perType}`, ...ages], sql` or `)}
        order by id limit ${AT_ONCE})`.execute(db);
    const affected = Number(numAffectedRows ?? 0n);
    gone += affected;
    if (affected < AT_ONCE) return gone;
  }
}

/** Text in place of dropped output. */
const NOTE = "[dropped: the outputs of all tasks together have grown beyond what the Director keeps]\n";

/**
 * Drops outputs of finished tasks until all of them together are within so many bytes. The oldest go first; and of all
 * tasks what they said of their work goes before what they did and what they gave back. Returns how many went.
 */
export async function dropOldOutputs(db: Db, bytes: number): Promise<number> {
  // With what the database has not given back yet: more than there is, and known at once.
  const { rows: size } = await sql<{ bytes: number }>`
    select pg_total_relation_size('task_output')::float8 as bytes`.execute(db);
  if ((size[0]?.bytes ?? 0) <= bytes) return 0;
  let gone = 0;
  for (;;) {
    const { rows } = await sql<{ task_id: number; type: string }>`
      select task_id, type from (
        select task_id, type, size, done, sum(size) over (
            order by done, type not in ('event', 'result'), task_id desc, type) as so_far
        from (
          select o.task_id, o.type, sum(length(o.data)) as size,
            t.state in ('done', 'error', 'cancelled', 'timeout') as done
          from task_output o join tasks t on t.id = o.task_id group by o.task_id, o.type, t.state) as sizes) as ordered
      where done and so_far > ${bytes} and size > ${NOTE.length}
      order by so_far desc limit ${AT_ONCE}`.execute(db);
    await inTransaction(db, async (tx) => {
      for (const { task_id: task, type } of rows) {
        await tx.deleteFrom("task_output").where("task_id", "=", task).where("type", "=", type).execute();
        if (type !== "debug" && type !== "cpi") continue;
        const note = { task_id: task, type, start: 0, data: Buffer.from(NOTE) };
        await tx
          .insertInto("task_output")
          .values(note)
          .onConflict((row) => row.doNothing())
          .execute();
      }
    });
    gone += rows.length;
    if (rows.length < AT_ONCE) return gone;
  }
}
