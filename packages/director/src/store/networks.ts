import type { NetworkRecord, SubnetRecord } from "@slipway/engine/model/records";
import type { NetworkCid } from "@slipway/protocol/ids";
import type { JsonObject } from "@slipway/protocol/schema/json";
import { sql } from "kysely";
import { claimOf } from "./claims.ts";
import { inTransaction } from "./open.ts";
import type { Db } from "./schema.ts";

/** A managed network, and who uses it. */
export interface KnownNetwork extends NetworkRecord {
  readonly type: string;
  readonly createdAt: number;
  /** Null if a deployment uses the network, or is about to. */
  readonly orphanedAt: number | null;
  /** Deployments that use the network, sorted by name. */
  readonly deployments: readonly string[];
  /** Subnets that a task has begun to delete: they may be gone, and may not be used. */
  readonly deleting: readonly SubnetRecord[];
}

interface Row {
  readonly name: string;
  readonly type: string;
  readonly ready: boolean;
  readonly created_at: Date;
  readonly orphaned_at: Date | null;
  readonly deployments: string[] | null;
  readonly subnets:
    | {
        readonly id: number;
        readonly name: string;
        readonly cid: string;
        readonly cpi: string;
        readonly range: string;
        readonly gateway: string | null;
        readonly reserved: readonly string[];
        readonly cloud_properties: JsonObject;
        readonly deleting: boolean;
      }[]
    | null;
}

/** Lists networks by name, in one round trip. */
export async function listNetworks(db: Db): Promise<readonly KnownNetwork[]> {
  const { rows } = await sql<Row>`
    select n.name, n.type, n.ready, n.created_at, n.orphaned_at,
      (select json_agg(d.name order by d.name) from deployment_networks dn
        join deployments d on d.id = dn.deployment_id where dn.network_id = n.id) as deployments,
      (select json_agg(x order by x.id) from (select s.id, s.name, s.cid, s.cpi, s.range, s.gateway, s.reserved,
        s.cloud_properties, s.deleting_task is not null as deleting from subnets s where s.network_id = n.id) x) as subnets
    from networks n order by n.name`.execute(db);
  return rows.map(({ name, type, ready, created_at, orphaned_at, deployments, subnets }) => {
    const all = (subnets ?? []).map(({ deleting, cid, cloud_properties, id: _, ...row }) => ({
      deleting,
      subnet: { ...row, network: name, cid: cid as NetworkCid, cloudProperties: cloud_properties },
    }));
    return {
      name,
      type,
      ready,
      createdAt: created_at.getTime(),
      orphanedAt: orphaned_at?.getTime() ?? null,
      deployments: deployments ?? [],
      subnets: all.map(({ subnet }) => subnet),
      deleting: all.filter(({ deleting }) => deleting).map(({ subnet }) => subnet),
    };
  });
}

/**
 * Claims a subnet for the task that deletes it. Its network is no longer ready: the next task that uses the network deletes the
 * subnet first and makes another. `again`: an earlier deletion had an unknown outcome. Undefined if it is no longer recorded.
 */
export function claimSubnet(
  db: Db,
  { cid, cpi }: Pick<SubnetRecord, "cid" | "cpi">,
  taskId: number,
): Promise<{ readonly again: boolean } | undefined> {
  return inTransaction(db, async (tx) => {
    const is = { cid, cpi };
    const row = await tx
      .selectFrom("subnets")
      .select(["network_id", "deleting_task", "deleting_since"])
      .where((where) => where.and(is))
      .forUpdate()
      .executeTakeFirst();
    if (row === undefined) return undefined;
    await tx.updateTable("networks").set({ ready: false }).where("id", "=", row.network_id).execute();
    await tx
      .updateTable("subnets")
      .set({ deleting_task: taskId, deleting_since: row.deleting_since ?? sql<Date>`now()` })
      .where((where) => where.and(is))
      .execute();
    return { again: claimOf(row) !== undefined };
  });
}

/** Gives the claim up: the subnet was not deleted. */
export async function releaseSubnet(
  db: Db,
  { cid, cpi }: Pick<SubnetRecord, "cid" | "cpi">,
  taskId: number,
): Promise<void> {
  await db
    .updateTable("subnets")
    .set({ deleting_task: null, deleting_since: null })
    .where((where) => where.and({ cid, cpi, deleting_task: taskId }))
    .execute();
}

export const findNetwork = async (db: Db, name: string): Promise<KnownNetwork | undefined> =>
  (await listNetworks(db)).find((one) => one.name === name);

/** Records that the deployment uses a network; it is there, if only by name, and not orphaned. */
export async function useNetwork(db: Db, deploymentId: number, name: string): Promise<void> {
  await sql`
    with network as (
      insert into networks (name) values (${name})
      on conflict (name) do update set orphaned_at = null returning id)
    insert into deployment_networks (deployment_id, network_id)
    select ${deploymentId}, id from network on conflict do nothing`.execute(db);
}

/** Records that all subnets of a network were made. */
export async function finishNetwork(db: Db, name: string): Promise<void> {
  await db.updateTable("networks").set({ ready: true }).where("name", "=", name).execute();
}

/** Removes a network whose subnets are gone, unless another deployment waits for it. */
export async function removeNetwork(db: Db, name: string, deploymentId?: number): Promise<void> {
  if (deploymentId !== undefined)
    await sql`delete from deployment_networks where deployment_id = ${deploymentId}
      and network_id = (select id from networks where name = ${name})`.execute(db);
  await sql`delete from networks n where n.name = ${name}
    and not exists (select 1 from deployment_networks dn where dn.network_id = n.id)`.execute(db);
}

/** Releases all networks of the deployment except these. Returns the names of those that are no longer used. */
export async function releaseNetworks(
  db: Db,
  deploymentId: number,
  used: readonly string[],
): Promise<readonly string[]> {
  // Concurrent uses and releases of these networks wait: one release is the last.
  const { rows: left } = await sql<{ id: number }>`
    select n.id from networks n join deployment_networks dn on dn.network_id = n.id
    where dn.deployment_id = ${deploymentId} and not n.name = any(${[...used]}::text[])
    order by n.id for update of n`.execute(db);
  const ids = left.map(({ id }) => id);
  if (ids.length === 0) return [];
  await sql`delete from deployment_networks
    where deployment_id = ${deploymentId} and network_id = any(${ids}::bigint[])`.execute(db);
  const { rows } = await sql<{ name: string }>`
    update networks n set orphaned_at = now() where n.id = any(${ids}::bigint[])
      and not exists (select 1 from deployment_networks dn where dn.network_id = n.id)
    returning n.name`.execute(db);
  return rows.map(({ name }) => name).sort();
}
