import type { Journal } from "@slipway/engine/journal/journal";
import { openJournal } from "../journal.ts";
import type { Lease } from "../lease.ts";
import type { Db } from "../schema.ts";
import { Sealed } from "../sealed.ts";

/** A task that is being run, and its journal. */
export async function runningTask(db: Db): Promise<{ readonly journal: Journal; readonly lease: Lease }> {
  const { id: taskId } = await db
    .insertInto("tasks")
    .values({
      type: "update_deployment",
      description: "create deployment",
      username: "admin",
      params_sealed: new Sealed({}),
      state: "processing",
      attempts: 1,
      lease_owner: "tests",
      lease_until: new Date(Date.now() + 3_600_000),
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  const lease = { taskId, owner: "tests", attempt: 1 };
  return { journal: openJournal(db, lease), lease };
}
