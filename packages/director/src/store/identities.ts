import { sql } from "kysely";
import type { Db } from "./schema.ts";

/** Notes the values that are not there yet, and returns all of them as they are noted. */
export async function knownIdentities(
  db: Db,
  now: Readonly<Record<string, string>>,
): Promise<ReadonlyMap<string, string>> {
  const values = Object.entries(now).map(([name, value]) => ({ name, value }));
  await db
    .insertInto("identities")
    .values(values)
    .onConflict((on) => on.column("name").doNothing())
    .execute();
  const rows = await db.selectFrom("identities").select(["name", "value"]).execute();
  return new Map(rows.map(({ name, value }) => [name, value]));
}

export async function changeIdentity(db: Db, name: string, value: string): Promise<void> {
  await db
    .updateTable("identities")
    .set({ value, noted_at: sql<Date>`now()` })
    .where("name", "=", name)
    .execute();
}

/** Tells which identities something that is recorded depends on. */
export async function dependedOn(db: Db): Promise<{ cpi: boolean; keys: boolean; name: boolean }> {
  const { rows } = await sql<{ cpi: boolean; keys: boolean; name: boolean }>`
    select
      exists (select from vms where cpi = '') or exists (select from orphaned_vms where cpi = '')
        or exists (select from persistent_disks where cpi = '') or exists (select from orphan_disks where cpi = '')
        or exists (select from snapshots where cpi = '') or exists (select from stemcells where cpi = '')
        or exists (select from subnets where cpi = '') or exists (select from strays where cpi = '') as cpi,
      exists (select from vms) as keys,
      exists (select from deployments) or exists (select from variables) as name`.execute(db);
  return rows[0] ?? { cpi: false, keys: false, name: false };
}
