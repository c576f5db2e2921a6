import type { Stray } from "@slipway/engine/journal/writes";
import { sql } from "kysely";
import type { Db } from "./schema.ts";

export interface StrayRecord extends Stray {
  readonly id: number;
  readonly notedAt: number;
}

/** Oldest first. */
export async function listStrays(db: Db): Promise<StrayRecord[]> {
  const rows = await db
    .selectFrom("strays")
    .selectAll()
    .select(
      sql<string[]>`array(select address from ip_addresses where stray_id = strays.id order by address)`.as(
        "addresses",
      ),
    )
    .orderBy("id")
    .execute();
  return rows.map(({ request_id, noted_at, ...row }) => ({
    ...row,
    requestId: request_id,
    notedAt: noted_at.getTime(),
  }));
}

/** The operator has dealt with it, and its addresses are free; false when it is not listed. */
export async function removeStray(db: Db, id: number): Promise<boolean> {
  const result = await db.deleteFrom("strays").where("id", "=", id).executeTakeFirst();
  return result.numDeletedRows > 0n;
}

/** The VM of this agent is found and known again: its addresses are free for it. */
export async function removeStrayOf(db: Db, agentId: string): Promise<void> {
  await sql`delete from strays where kind = 'vm' and starts_with(about, ${`agent ${agentId} of `})`.execute(
    db,
  );
}
