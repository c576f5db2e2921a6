import type { VmCid } from "@slipway/protocol/ids";
import { sql } from "kysely";
import type { Db } from "./schema.ts";

export interface OrphanedVm {
  readonly cid: VmCid;
  readonly cpi: string;
  readonly az: string | null;
  readonly stemcellApiVersion: number;
  readonly deployment: string;
  /** `group/uuid`. */
  readonly instance: string;
  readonly ips: readonly string[];
  readonly orphanedAt: number;
}

/** Oldest first. */
export async function listOrphanedVms(db: Db): Promise<OrphanedVm[]> {
  const { rows } = await sql<Omit<OrphanedVm, "orphanedAt" | "ips"> & { at: Date; ips: string[] | null }>`
    select o.cid, o.cpi, o.az, o.stemcell_api_version as "stemcellApiVersion", o.deployment_name as deployment,
      o.instance_name as instance, o.orphaned_at as at,
      (select json_agg(p.address order by p.address) from ip_addresses p where p.orphaned_vm_id = o.id) as ips
    from orphaned_vms o order by o.id`.execute(db);
  return rows.map(({ at, ips, ...row }) => ({ ...row, ips: ips ?? [], orphanedAt: at.getTime() }));
}

/** The VM is gone from the cloud; its addresses are free again. */
export async function removeOrphanedVm(db: Db, cid: VmCid): Promise<void> {
  await db.deleteFrom("orphaned_vms").where("cid", "=", cid).execute();
}
