import { inTransaction } from "./open.ts";
import type { Db } from "./schema.ts";

/**
 * Takes a turn and reports whether it is the caller's: neither this nor a later one was taken before. A new schedule begins now;
 * its last turn is not taken.
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
