import { BadWrite } from "@slipway/engine/journal/errors";
import type { IpRecord } from "@slipway/engine/model/records";
import { sql } from "kysely";
import { IpTaken } from "./errors.ts";
import { inTransaction } from "./open.ts";
import type { Db } from "./schema.ts";

const holderText = sql<string>`case
  when i.id is not null then 'instance ' || i.group_name || '/' || i.uuid || ' of deployment ' || d.name
  when o.id is not null then 'orphaned VM ' || o.cid || ' of deployment ' || o.deployment_name
  else 'stray ' || s.id || ', a VM that may still run (' || s.about || ')' end`;

const holders = sql`ip_addresses p
  left join instances i on i.id = p.instance_id
  left join deployments d on d.id = i.deployment_id
  left join orphaned_vms o on o.id = p.orphaned_vm_id
  left join strays s on s.id = p.stray_id`;

/** Returns every address that other deployments, orphaned VMs and the Director itself hold, with its holder. */
export async function takenIps(
  db: Db,
  deployment: string,
  ownIps: readonly string[] = [],
): Promise<ReadonlyMap<string, string>> {
  const { rows } = await sql<{ address: string; holder: string }>`
    select p.address, ${holderText} as holder from ${holders}
    where d.name is distinct from ${deployment}`.execute(db);
  return new Map([
    ...rows.map((row) => [row.address, row.holder] as const),
    ...ownIps.map((ip) => [ip, "the Director"] as const),
  ]);
}

export interface Reservation {
  readonly instance: string;
  readonly ip: IpRecord;
}

/** Key of the lock that serializes reservations. A prefix and an address in it are different keys to the database. */
const LOCK = 732_047;

/** Reserves them all or none. What the instance holds already stays its own; a taken one is an error that names the holder. */
export function reserveIps(db: Db, taskId: number, wanted: readonly Reservation[]): Promise<void> {
  if (wanted.length === 0) return Promise.resolve();
  // In one order everywhere, so that two deploys wait for each other instead of locking up.
  const rows = wanted
    .map(({ instance, ip }) => ({ uuid: instance, ...ip }))
    .sort((a, b) => (a.address < b.address ? -1 : a.address > b.address ? 1 : 0));
  const twice = rows.find((row, at) => rows[at - 1]?.address === row.address);
  if (twice !== undefined)
    throw BadWrite({ what: `the address ${twice.address} is asked for twice, once by ${twice.uuid}` });
  return inTransaction(db, async (tx) => {
    await sql`select pg_advisory_xact_lock(${LOCK})`.execute(tx);
    const { rows: got } = await sql<{ address: string }>`
      insert into ip_addresses (address, network_name, static, instance_id, task_id)
      select x.address, x.network, x.static, i.id, ${taskId}
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        as x(address text, network text, static boolean, uuid text)
      join instances i on i.uuid = x.uuid
      order by x.address
      on conflict (address) do update set network_name = excluded.network_name, static = excluded.static
        where ip_addresses.instance_id = excluded.instance_id
      returning address`.execute(tx);
    if (got.length === rows.length) return await refuseOverlaps(tx, rows);
    const reserved = new Set(got.map((row) => row.address));
    const missed = rows.find((row) => !reserved.has(row.address));
    if (missed === undefined) throw new Error("bug: more addresses reserved than asked for");
    const { rows: held } = await sql<{ holder: string }>`
      select ${holderText} as holder from ${holders} where p.address = ${missed.address}`.execute(tx);
    if (held[0] === undefined)
      throw BadWrite({ what: `there is no instance ${missed.uuid} to hold an address` });
    throw IpTaken({ address: missed.address, holder: held[0].holder, wanted: missed.uuid });
  });
}

/** Refuses addresses that overlap: a prefix holds every address in it, for one instance only. */
async function refuseOverlaps(
  tx: Db,
  wanted: readonly { readonly address: string; readonly uuid: string }[],
): Promise<void> {
  // Each arm has prefixes on one side: without prefixes, nothing is compared.
  const { rows } = await sql<{ address: string; uuid: string; holder: string }>`
    with wanted as (
      select x.address, x.uuid, i.id from jsonb_to_recordset(${JSON.stringify(wanted)}::jsonb)
        as x(address text, uuid text) join instances i on i.uuid = x.uuid),
    clashes as (
      select w.*, t.address as taken from wanted w join ip_addresses t
        on w.address like '%/%' and t.address::inet && w.address::inet and t.instance_id is distinct from w.id
      union all
      select w.*, t.address as taken from wanted w join ip_addresses t
        on t.address like '%/%' and t.address::inet && w.address::inet and t.instance_id is distinct from w.id)
    select c.address, c.uuid, p.address || ' of ' || ${holderText} as holder
    from clashes c join (${holders}) on p.address = c.taken
    order by c.address limit 1`.execute(tx);
  const [clash] = rows;
  if (clash !== undefined)
    throw IpTaken({ address: clash.address, holder: clash.holder, wanted: clash.uuid });
}
