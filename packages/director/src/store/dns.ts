import type { AgentAddress } from "@slipway/engine/agents/agent";
import type { DnsInstance } from "@slipway/engine/jobs/dns/records";
import type { AgentId } from "@slipway/protocol/ids";
import type { Networks } from "@slipway/protocol/settings/networks";
import { sql } from "kysely";
import { inTransaction } from "./open.ts";
import type { Db } from "./schema.ts";

/** The records as they were when they last changed. */
export interface DnsVersion {
  readonly version: number;
  /** Records without the version. */
  readonly content: string;
}

/** Key of the lock: any number, the same for all Directors. */
const LOCK = 732_045_002;

/** Undefined: there never were any. */
export async function latestDns(db: Db): Promise<DnsVersion | undefined> {
  return await db
    .selectFrom("dns_records")
    .select(["version", "content"])
    .orderBy("version", "desc")
    .limit(1)
    .executeTakeFirst();
}

/**
 * Makes the records of what is there now. They are a new version only if they are not what they were. One after the other,
 * or the newest could be of what was there before.
 */
export function renewDns(
  db: Db,
  make: (db: Db, before: DnsVersion | undefined) => Promise<string>,
): Promise<{ readonly now: DnsVersion; readonly before: DnsVersion | undefined }> {
  return inTransaction(db, async (tx) => {
    await sql`select pg_advisory_xact_lock(${LOCK})`.execute(tx);
    const before = await latestDns(tx);
    const content = await make(tx, before);
    if (before?.content === content) return { now: before, before };
    const { version } = await tx
      .insertInto("dns_records")
      .values({ content })
      .returning("version")
      .executeTakeFirstOrThrow();
    await tx.deleteFrom("dns_records").where("version", "<", version).execute();
    return { now: { version, content }, before };
  });
}

/** Returns the records of all deployments. VMs that compile have no names, nor have instances that are complete without a VM. */
export async function instancesWithNames(db: Db): Promise<readonly DnsInstance[]> {
  const { rows } = await sql<{
    deployment: string;
    group: string;
    uuid: string;
    index: number;
    az: string | null;
    agent_id: string | null;
    networks: Networks | null;
    reserved: readonly { readonly network: string; readonly ip: string }[] | null;
  }>`
    select d.name as deployment, i.group_name as "group", i.uuid, i.index, i.az, v.agent_id, v.networks,
      (select json_agg(json_build_object('network', p.network_name, 'ip', p.address))
        from ip_addresses p where p.instance_id = i.id) as reserved
    from instances i join deployments d on d.id = i.deployment_id
      left join vms v on v.instance_id = i.id and v.active
    where not i.compilation and (v.id is not null or (i.state <> 'detached' and not i.errand))
    order by i.id`.execute(db);
  return rows.map(({ agent_id: agentId, networks, reserved, ...row }) => ({
    ...row,
    agentId,
    addresses: (networks === null ? (reserved ?? []) : addressesIn(networks)).toSorted((a, b) =>
      a.network < b.network ? -1 : 1,
    ),
  }));
}

const addressesIn = (networks: Networks) =>
  Object.entries(networks).flatMap(([network, { ip }]) => (ip === undefined ? [] : [{ network, ip }]));

/** Returns the agents that can be asked, and have older records. */
export async function agentsBehind(db: Db, version: number): Promise<readonly AgentAddress[]> {
  const rows = await db
    .selectFrom("vms as v")
    .innerJoin("instances as i", "i.id", "v.instance_id")
    .select(["v.agent_id", "v.agent_url"])
    .where("v.active", "=", true)
    .where("v.ready", "=", true)
    .where("i.compilation", "=", false)
    .where("v.dns_version", "<", version)
    .orderBy("v.id")
    .execute();
  return rows.map((row) => ({ agentId: row.agent_id as AgentId, agentUrl: row.agent_url }));
}

/** Returns the version of the records an agent last got; 0 if it has none. */
export async function dnsVersionOf(db: Db, agentId: string): Promise<number> {
  const row = await db
    .selectFrom("vms")
    .select("dns_version")
    .where("agent_id", "=", agentId)
    .executeTakeFirst();
  return row?.dns_version ?? 0;
}

export async function noteDnsVersion(db: Db, agentIds: readonly string[], version: number): Promise<void> {
  if (agentIds.length === 0) return;
  await db
    .updateTable("vms")
    .set({ dns_version: version })
    .where("agent_id", "in", [...agentIds])
    .where("dns_version", "<", version)
    .execute();
}
