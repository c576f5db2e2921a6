import type { Db } from "./schema.ts";

/** Claim of a task on what it deletes in the cloud. No other task uses what is claimed. */
export interface Claim {
  readonly task: number;
  /** Ms since 1970. */
  readonly since: number;
}

/** The columns of a table whose rows can be claimed. */
export interface ClaimColumns {
  readonly deleting_task: number | null;
  readonly deleting_since: Date | null;
}

export const claimOf = ({ deleting_task: task, deleting_since: since }: ClaimColumns): Claim | undefined =>
  task === null || since === null ? undefined : { task, since: since.getTime() };

/** Reports whether another unfinished task holds the claim: it is deleting the thing now, or will go on with it. */
export async function isHeldByOther(db: Db, claim: Claim | undefined, taskId: number): Promise<boolean> {
  if (claim === undefined || claim.task === taskId) return false;
  const holder = await db
    .selectFrom("tasks")
    .select("id")
    .where("id", "=", claim.task)
    .where("state", "in", ["queued", "processing", "cancelling"])
    .executeTakeFirst();
  return holder !== undefined;
}
