import type { Stray } from "@slipway/engine/flows/journal";
import type { Db } from "./schema.ts";

export interface StrayRecord extends Stray {
  readonly id: number;
  readonly notedAt: number;
}

/** Oldest first. */
export async function listStrays(db: Db): Promise<StrayRecord[]> {
  const rows = await db.selectFrom("strays").selectAll().orderBy("id").execute();
  return rows.map(({ request_id, noted_at, ...row }) => ({
    ...row,
    requestId: request_id,
    notedAt: noted_at.getTime(),
  }));
}

/** The operator has dealt with it; false when it is not listed. */
export async function removeStray(db: Db, id: number): Promise<boolean> {
  const result = await db.deleteFrom("strays").where("id", "=", id).executeTakeFirst();
  return result.numDeletedRows > 0n;
}
