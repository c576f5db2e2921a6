import { inTransaction } from "./open.ts";
import type { Db } from "./schema.ts";

/**
 * Whether this turn is the caller's: nobody has taken it, nor a later one. A schedule that nobody has seen before begins
 * now; its last turn is nobody's.
 */
export function takeTurn(db: Db, job: string, schedule: string, turn: number): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    const { numInsertedOrUpdatedRows: begun } = await tx
      .insertInto("scheduled_turns")
      .values({ job, schedule, turn: new Date(turn) })
      .onConflict((row) => row.doNothing())
      .executeTakeFirstOrThrow();
    if (begun === 1n) return false;
    const { numUpdatedRows } = await tx
      .updateTable("scheduled_turns")
      .set({ turn: new Date(turn) })
      .where("job", "=", job)
      .where("schedule", "=", schedule)
      .where("turn", "<", new Date(turn))
      .executeTakeFirstOrThrow();
    return numUpdatedRows === 1n;
  });
}
