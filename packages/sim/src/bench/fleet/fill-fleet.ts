import pg from "pg";
import { simSealer } from "../../director/sim-sealer.ts";
import { addressOf, agentIdOf, diskOf } from "./orders.ts";

/** Instances of each deployment. */
const MEMBERS = 50;

const FILL = `
with made as (
  insert into deployments (name, canonical, manifest_sealed)
  select 'fleet-' || n, 'fleet-' || n, $2 from generate_series(0, (cardinality($1::text[]) - 1) / ${MEMBERS}) n
  returning id, name),
given as (
  select agent, url, disk, at - 1 as at from unnest($1::text[], $4::text[], $5::text[]) with ordinality as t(agent, url, disk, at)),
members as (
  insert into instances (deployment_id, uuid, group_name, index, az, state, bootstrap, update_completed, spec)
  select made.id, 'uuid-of-' || given.agent, 'web', given.at % ${MEMBERS}, 'z1', 'started', false, true,
    '{"networks": {}, "persistentDisk": null, "tags": {}, "configurationHash": "none", "vmType": "small"}'
  from given join made on made.name = 'fleet-' || (given.at / ${MEMBERS}) returning id, uuid),
machines as (
  insert into vms (instance_id, cid, agent_id, active, cpi, created_at, stemcell_name, stemcell_version,
    stemcell_api_version, api_version, channel, env_sealed, cloud_properties, networks, disks, agent_url, ready)
  select members.id, 'vm-of-' || given.agent, given.agent, true, '', now(), 'sim', '1.1', 3, 2, 'user-data', $3, '{}',
    '{}', '{}', given.url, true from members join given on members.uuid = 'uuid-of-' || given.agent)
insert into persistent_disks (instance_id, cid, size, cloud_properties, cpi, active, attached_to, mounted)
select members.id, given.disk, 1024, '{}', '', true, 'vm-of-' || given.agent, true
from members join given on members.uuid = 'uuid-of-' || given.agent`;

/** Instances with VMs and disks, whose agents are those of `agents-process`. */
export async function fillFleet(
  connection: pg.PoolConfig,
  count: number,
  urlOf: (ip: string) => string,
): Promise<void> {
  const numbers = Array.from({ length: count }, (_, nth) => nth);
  const ids = numbers.map(agentIdOf);
  const seal = (value: unknown) => simSealer.seal(JSON.stringify(value));
  const client = new pg.Client(connection as pg.ClientConfig);
  await client.connect();
  try {
    const urls = numbers.map((nth) => urlOf(addressOf(nth)));
    await client.query(FILL, [ids, seal("name: fleet"), seal({}), urls, ids.map(diskOf)]);
    await client.query("analyze");
  } finally {
    await client.end();
  }
}
