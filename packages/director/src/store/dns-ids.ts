import { type DnsGroup, type DnsIds, groupKey } from "@slipway/engine/jobs/dns/ids";
import { sql } from "kysely";
import type { Db } from "./schema.ts";

/** Things that are to have a number. */
export interface NamedInDns {
  readonly azs: readonly string[];
  readonly networks: readonly string[];
  readonly groups: readonly DnsGroup[];
}

/** All numbers that were given. `deployments`: groups and instances of these alone. */
export async function dnsIds(db: Db, deployments?: readonly string[]): Promise<DnsIds> {
  const ofThese = deployments === undefined ? sql`true` : sql`d.name = any(${[...deployments]}::text[])`;
  const azs = await db.selectFrom("dns_azs").select(["name", "id"]).orderBy("id").execute();
  const networks = await db.selectFrom("dns_networks").select(["name", "id"]).orderBy("id").execute();
  const groups = await sql<DnsGroup & { readonly id: number }>`
    select g.id, g.type, g.name, d.name as deployment
    from dns_groups g join deployments d on d.id = g.deployment_id where ${ofThese}`.execute(db);
  const instances = await sql<{ readonly id: number; readonly uuid: string }>`
    select i.id, i.uuid from instances i join deployments d on d.id = i.deployment_id where ${ofThese}`.execute(
    db,
  );
  return {
    azs: new Map(azs.map(({ name, id }) => [name, id])),
    networks: new Map(networks.map(({ name, id }) => [name, id])),
    groups: new Map(groups.rows.map(({ id, ...group }) => [groupKey(group), id])),
    instances: new Map(instances.rows.map(({ uuid, id }) => [uuid, id])),
  };
}

/** Gives numbers to those that have none. Groups of deployments that are gone get none. */
export async function giveDnsIds(db: Db, { azs, networks, groups }: NamedInDns): Promise<void> {
  await giveTo(db, "dns_azs", azs);
  await giveTo(db, "dns_networks", networks);
  if (groups.length === 0) return;
  // Numbers are not used up by what has one already.
  await sql`
    insert into dns_groups (deployment_id, type, name)
    select distinct d.id, x.type, x.name
    from jsonb_to_recordset(${JSON.stringify(groups)}::jsonb) as x(type text, name text, deployment text)
    join deployments d on d.name = x.deployment
    where not exists (select from dns_groups g where (g.deployment_id, g.type, g.name) = (d.id, x.type, x.name))
    order by d.id, x.type, x.name
    on conflict do nothing`.execute(db);
}

async function giveTo(db: Db, table: "dns_azs" | "dns_networks", names: readonly string[]): Promise<void> {
  if (names.length === 0) return;
  const t = sql.table(table);
  await sql`
    insert into ${t} (name)
    select distinct n from unnest(${[...names]}::text[]) n where not exists (select from ${t} t where t.name = n)
    order by n on conflict do nothing`.execute(db);
}

/** Adds unused numbers for what is only planned, and stores none of them. */
export function withProvisional(ids: DnsIds, wanted: NamedInDns, uuids: readonly string[]): DnsIds {
  return {
    azs: filled(ids.azs, wanted.azs),
    networks: filled(ids.networks, wanted.networks),
    groups: filled(ids.groups, wanted.groups.map(groupKey)),
    instances: filled(ids.instances, uuids),
  };
}

function filled(known: ReadonlyMap<string, number>, names: readonly string[]): ReadonlyMap<string, number> {
  const all = new Map(known);
  let next = 0;
  for (const id of known.values()) next = Math.max(next, id);
  for (const name of names)
    if (!all.has(name)) {
      next += 1;
      all.set(name, next);
    }
  return all;
}
