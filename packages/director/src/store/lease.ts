import { defineError } from "@slipway/kernel/errors";
import { sql } from "kysely";
import { refusal } from "./failures.ts";
import { inTransaction } from "./open.ts";
import type { Db } from "./schema.ts";

/**
 * The right to run a task. `attempt` goes up with every claim, so a lease that was taken over can never write again,
 * not even for the same owner. Leases end by the database's clock: the Directors need not agree on the time.
 */
export interface Lease {
  readonly taskId: number;
  readonly owner: string;
  readonly attempt: number;
}

export const LeaseLost = defineError<{ task: number }>({
  code: "DIT-001",
  kind: "outside",
  message: (p) =>
    `task ${p.task} is no longer run by this Director: its lease ended or another Director has taken it`,
  next: "Nothing, if another Director goes on with it. Otherwise look at the connection to the database.",
});

/** Raised by `hold` of migration 4. */
const LEASE_LOST = "SW004";

export const leaseLostAs = (error: unknown, task: number): unknown =>
  refusal(error)?.state === LEASE_LOST ? LeaseLost({ task }, { cause: error }) : error;

export const hold = ({ taskId, owner, attempt }: Lease) => sql`hold(${taskId}, ${owner}, ${attempt})`;

/** Put before a single statement of a running task, which takes `from mine where mine.held`. */
export const mine = (lease: Lease) => sql`with mine as materialized (select ${hold(lease)} as held)`;

/** Writes of a running task: all of them while the lease is known to hold, or none. */
export async function writeFenced<T>(db: Db, lease: Lease, work: (tx: Db) => Promise<T>): Promise<T> {
  try {
    return await inTransaction(db, async (tx) => {
      await sql`select ${hold(lease)}`.execute(tx);
      return await work(tx);
    });
  } catch (error) {
    throw leaseLostAs(error, lease.taskId);
  }
}

/**
 * Waits for what the run before this one may still be writing. From then on it writes nothing: its lease is not this
 * one.
 */
export const awaitEarlierWrites = async (db: Db, taskId: number): Promise<void> => {
  await sql`select pg_advisory_xact_lock(732045, (${taskId}::bigint % 2147483647)::integer)`.execute(db);
};
