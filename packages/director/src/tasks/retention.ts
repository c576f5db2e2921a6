import { sql } from "kysely";
import type { Db } from "../store/schema.ts";

const AT_ONCE = 500;

/** Deletes finished tasks, with their outputs, but the newest `keep` of each type. Returns how many went. */
export async function deleteOldTasks(db: Db, keep: number): Promise<number> {
  let gone = 0;
  for (;;) {
    const { numAffectedRows } = await sql`
      delete from tasks where id in (
        select id from (
          select id, row_number() over (partition by type order by id desc) as place from tasks
          where state in ('done', 'error', 'cancelled', 'timeout')) as finished
        where place > ${keep} order by id limit ${AT_ONCE})`.execute(db);
    const affected = Number(numAffectedRows ?? 0n);
    gone += affected;
    if (affected < AT_ONCE) return gone;
  }
}
