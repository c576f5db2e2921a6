import { sql } from "kysely";
import type { Db } from "./schema.ts";

/** Cids of every VM and disk that some record names, orphaned ones too. */
export async function recordedCids(db: Db): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ cid: string }>`
    select cid from vms union select cid from orphaned_vms
    union select cid from persistent_disks union select cid from orphan_disks`.execute(db);
  return new Set(rows.map(({ cid }) => cid));
}
