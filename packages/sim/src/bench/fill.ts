import { openSealer } from "@slipway/director/store/key-file";
import type { Clock } from "@slipway/kernel/clock";
import type { Random } from "@slipway/kernel/random";
import pg from "pg";
import { type Opened, withStoreIn } from "./database.ts";

/** A Director's life in rows: deployments of one or two instances with VMs, disks and addresses, and the tasks that made them. */
const FILL = `
with made as (
  insert into deployments (name, canonical, manifest_sealed)
  select 'deployment-' || n, 'deployment-' || n, $2
  from generate_series(1, $1::int) n returning id),
members as (
  insert into instances (deployment_id, uuid, group_name, index, az, state, bootstrap, update_completed, spec)
  select made.id, 'uuid-' || made.id || '-' || i, 'web', i, 'z1', 'started', i = 0, true,
    '{"networks": {}, "persistentDisk": null, "tags": {}, "configurationHash": "none", "vmType": "small"}'
  from made, generate_series(0, (made.id % 2)::int) i returning id),
machines as (
  insert into vms (instance_id, cid, agent_id, active, cpi, created_at, stemcell_name, stemcell_version,
    stemcell_api_version, api_version, channel, env_sealed, cloud_properties, networks, disks, agent_url, ready)
  select id, 'vm-' || id, 'agent-' || id, true, '', now(), 'sim', '1.1', 3, 2, 'user-data', $3, '{"cpu": 1}',
    '{"private": {"type": "manual"}}', '{}', 'https://10.0.0.1:6868', true from members),
disks as (
  insert into persistent_disks (instance_id, cid, size, cloud_properties, cpi, active, attached_to, mounted)
  select id, 'disk-' || id, 1024, '{}', '', true, 'vm-' || id, true from members),
addresses as (
  insert into ip_addresses (address, network_name, static, instance_id)
  select host('10.0.0.0'::inet + id), 'private', false, id from members),
done as (
  insert into tasks (type, description, state, username, deployment_name, params_sealed, result, started_at, finished_at)
  select 'update_deployment', 'create deployment', 'done', 'admin', 'deployment-' || n,
    $4, '/deployments/deployment-' || n, now(), now()
  from generate_series(1, $1::int) n, generate_series(1, 2) returning id)
insert into task_output (task_id, type, start, data)
select id, 'debug', 0, convert_to(repeat('a line of output' || E'\\n', 200), 'UTF8') from done`;

/** An event of each second until now, of a hundred users and a thousand instances. */
const FILL_EVENTS = `
insert into events (at, username, action, object_type, object_name, deployment, instance)
select now() - n * interval '1 second', 'user-' || n % 100, 'create', 'vm', 'vm-' || n % 1000,
  'deployment-' || n % 1000, 'web/uuid-' || n % 1000
from generate_series($1::int, 1, -1) n`;

/** Puts that many deployments and events into the store of a Director that is not running. */
export async function fill(
  stateDir: string,
  { deployments, events }: { readonly deployments: number; readonly events: number },
  given: { readonly clock: Clock; readonly random: Random },
): Promise<void> {
  const sealer = await openSealer({ dir: stateDir, random: given.random });
  const seal = (value: unknown) => sealer.seal(JSON.stringify(value));
  const manifest = seal(`name: deployment${`\n# ${"x".repeat(76)}`.repeat(25)}`);
  const sealed = [manifest, seal({}), seal({ manifest: "x".repeat(2000) })];
  const work = async ({ database }: Opened): Promise<void> => {
    const client = new pg.Client(database.connection as pg.ClientConfig);
    await client.connect();
    try {
      await client.query(FILL, [deployments, ...sealed]);
      await client.query(FILL_EVENTS, [events]);
      // As the database does by itself, but later.
      await client.query("analyze");
    } finally {
      await client.end();
    }
  };
  // Sealed with the Director's own key: a store refuses another one.
  await withStoreIn(stateDir, given.clock, work, sealer);
}
