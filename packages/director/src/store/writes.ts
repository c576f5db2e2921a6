import type { Writes } from "@slipway/engine/flows/journal";
import type { VmRecord } from "@slipway/engine/model/records";
import { type RawBuilder, sql } from "kysely";

/** One SQL statement; it fails by itself when it does not fit what is recorded, so that nobody has to look between. */
export type Statement = RawBuilder<unknown>;

/** Raised by the statements through `must` of migration 2. */
export const BAD_WRITE = "SW001";
export const CLOSED_ALREADY = "SW002";
export const INSTANCE_HOLDS = "SW003";

const json = (value: unknown) => sql`${JSON.stringify(value)}::jsonb`;
const time = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());
const set = (assignments: readonly Statement[]) => sql.join(assignments, sql`, `);

/** The changes a step asks for, as statements in the order they were asked for. Each may be repeated. */
export function statementsOf(write: (writes: Writes) => void): Statement[] {
  const list: Statement[] = [];
  write({
    addVm: (instance, vm) => list.push(addVm(instance, vm)),
    activateVm: (cid) => list.push(...makeActive("vms", cid)),
    updateVm: (cid, change) => list.push(...updateVm(cid, change)),
    removeVm: (cid) => list.push(...removeVm(cid)),
    orphanVm: (cid) => list.push(orphanVm(cid)),
    addDisk: (instance, disk) => list.push(addDisk(instance, disk)),
    updateDisk: (cid, change) => list.push(...updateDisk(cid, change)),
    switchDisk: (cid) => list.push(...makeActive("persistent_disks", cid)),
    orphanDisk: (cid) => list.push(orphanDisk(cid)),
    updateInstance: (instance, change) => list.push(...updateInstance(instance, change)),
    removeInstance: (instance) => list.push(...removeInstance(instance)),
    addStray: (stray) => list.push(addStray(stray)),
  });
  return list;
}

function addVm(instance: string, vm: Omit<VmRecord, "id">): Statement {
  return sql`
    with i as (select id from instances where uuid = ${instance}),
    added as (
      insert into vms (instance_id, cid, agent_id, active, cpi, created_at, stemcell_name, stemcell_version,
        stemcell_api_version, api_version, channel, env, cloud_properties, networks, disks, agent_url,
        certificate_until, ready)
      select i.id, ${vm.cid}, ${vm.agentId}, ${vm.active}, ${vm.cpi}, ${time(vm.createdAt)}::timestamptz,
        ${vm.stemcell.name}, ${vm.stemcell.version}, ${vm.stemcell.apiVersion}, ${vm.apiVersion}, ${vm.channel},
        ${json(vm.env)}, ${json(vm.cloudProperties)}, ${json(vm.networks)}, ${json(vm.disks)}, ${vm.agentUrl},
        ${time(vm.certificateUntil)}::timestamptz, ${vm.ready}
      from i on conflict (cid) do nothing returning 1)
    select must(
      exists (select 1 from added) or exists (select 1 from vms join i on i.id = instance_id where cid = ${vm.cid}),
      ${BAD_WRITE}, ${`VM ${vm.cid} cannot be added to the instance ${instance}`})`;
}

/** Two statements: the index that allows one active per instance looks at each row as it changes. */
function makeActive(table: "vms" | "persistent_disks", cid: string): Statement[] {
  const rows = sql.table(table);
  return [
    sql`update ${rows} set active = false where active and cid <> ${cid}
      and instance_id = (select instance_id from ${rows} where cid = ${cid})`,
    sql`with made as (update ${rows} set active = true where cid = ${cid} returning 1)
      select must(exists (select 1 from made), ${BAD_WRITE}, ${`${table} has no ${cid} to make active`})`,
  ];
}

function updateVm(cid: string, change: Parameters<Writes["updateVm"]>[1]): Statement[] {
  const to: Statement[] = [];
  if (change.networks !== undefined) to.push(sql`networks = ${json(change.networks)}`);
  if (change.disks !== undefined) to.push(sql`disks = ${json(change.disks)}`);
  if (change.ready !== undefined) to.push(sql`ready = ${change.ready}`);
  if (change.agentUrl !== undefined) to.push(sql`agent_url = ${change.agentUrl}`);
  if (change.certificateUntil !== undefined)
    to.push(sql`certificate_until = ${time(change.certificateUntil)}::timestamptz`);
  if (to.length === 0) return [];
  return [
    sql`with changed as (update vms set ${set(to)} where cid = ${cid} returning 1)
      select must(exists (select 1 from changed), ${BAD_WRITE}, ${`there is no VM ${cid} to change`})`,
  ];
}

function removeVm(cid: string): Statement[] {
  return [
    sql`delete from vms where cid = ${cid}`,
    sql`update persistent_disks set attached_to = null, hint = null, mounted = false where attached_to = ${cid}`,
  ];
}

/** Its addresses go with it, unless another VM of the instance has them too. */
function orphanVm(cid: string): Statement {
  return sql`
    with gone as (delete from vms where cid = ${cid} returning *),
    moved as (
      insert into orphaned_vms (cid, cpi, az, stemcell_api_version, deployment_name, instance_name)
      select g.cid, g.cpi, i.az, g.stemcell_api_version, d.name, i.group_name || '/' || i.uuid
      from gone g join instances i on i.id = g.instance_id join deployments d on d.id = i.deployment_id
      returning id),
    taken as (
      update ip_addresses p set instance_id = null, orphaned_vm_id = m.id
      from moved m, gone g
      where p.instance_id = g.instance_id
        and p.address in (select n.value ->> 'ip' from jsonb_each(g.networks) n)
        and not exists (select 1 from vms o, jsonb_each(o.networks) n
          where o.instance_id = g.instance_id and o.cid <> g.cid and n.value ->> 'ip' = p.address))
    select must(
      exists (select 1 from moved) or exists (select 1 from orphaned_vms where cid = ${cid}),
      ${BAD_WRITE}, ${`there is no VM ${cid} to orphan`})`;
}

function addDisk(instance: string, disk: Parameters<Writes["addDisk"]>[1]): Statement {
  return sql`
    with i as (select id from instances where uuid = ${instance}),
    added as (
      insert into persistent_disks (instance_id, cid, size, cloud_properties, cpi, active)
      select i.id, ${disk.cid}, ${disk.size}, ${json(disk.cloudProperties)}, ${disk.cpi}, ${disk.active}
      from i on conflict (cid) do nothing returning 1)
    select must(
      (exists (select 1 from added)
        or exists (select 1 from persistent_disks join i on i.id = instance_id where cid = ${disk.cid}))
        and not exists (select 1 from orphan_disks where cid = ${disk.cid}),
      ${BAD_WRITE}, ${`disk ${disk.cid} cannot be added to the instance ${instance}`})`;
}

function updateDisk(cid: string, change: Parameters<Writes["updateDisk"]>[1]): Statement[] {
  const to: Statement[] = [];
  if (change.cid !== undefined) to.push(sql`cid = ${change.cid}`);
  if (change.size !== undefined) to.push(sql`size = ${change.size}`);
  if (change.cloudProperties !== undefined) to.push(sql`cloud_properties = ${json(change.cloudProperties)}`);
  if (change.attachedTo !== undefined) to.push(sql`attached_to = ${change.attachedTo}`);
  if (change.hint !== undefined) to.push(sql`hint = ${change.hint === null ? null : json(change.hint)}`);
  if (change.mounted !== undefined) to.push(sql`mounted = ${change.mounted}`);
  if (to.length === 0) return [];
  const renamed = change.cid ?? cid;
  return [
    // Asked again, it goes by its new name already.
    sql`with changed as (update persistent_disks set ${set(to)} where cid in (${cid}, ${renamed}) returning 1)
      select must(
        exists (select 1 from changed) and not exists (select 1 from orphan_disks where cid = ${renamed}),
        ${BAD_WRITE}, ${`there is no disk ${cid} to change`})`,
  ];
}

function orphanDisk(cid: string): Statement {
  return sql`
    with gone as (delete from persistent_disks where cid = ${cid} returning *),
    moved as (
      insert into orphan_disks (cid, size, cloud_properties, cpi, az, deployment_name, instance_name)
      select g.cid, g.size, g.cloud_properties, g.cpi, i.az, d.name, i.group_name || '/' || i.uuid
      from gone g join instances i on i.id = g.instance_id join deployments d on d.id = i.deployment_id
      returning 1)
    select must(
      exists (select 1 from moved) or exists (select 1 from orphan_disks where cid = ${cid}),
      ${BAD_WRITE}, ${`there is no disk ${cid} to orphan`})`;
}

function updateInstance(uuid: string, change: Parameters<Writes["updateInstance"]>[1]): Statement[] {
  const to: Statement[] = [];
  if (change.state !== undefined) to.push(sql`state = ${change.state}`);
  if (change.az !== undefined) to.push(sql`az = ${change.az}`);
  if (change.bootstrap !== undefined) to.push(sql`bootstrap = ${change.bootstrap}`);
  if (change.updateCompleted !== undefined) to.push(sql`update_completed = ${change.updateCompleted}`);
  if (change.spec !== undefined) to.push(sql`spec = ${json(change.spec)}`);
  const list: Statement[] = [];
  if (to.length > 0)
    list.push(sql`with changed as (update instances set ${set(to)} where uuid = ${uuid} returning 1)
      select must(exists (select 1 from changed), ${BAD_WRITE}, ${`there is no instance ${uuid} to change`})`);
  if (change.keepIps !== undefined)
    list.push(sql`delete from ip_addresses where instance_id = (select id from instances where uuid = ${uuid})
      and address <> all (${[...change.keepIps]}::text[])`);
  return list;
}

function removeInstance(uuid: string): Statement[] {
  const id = sql`(select id from instances where uuid = ${uuid})`;
  return [
    sql`with held as (
        select 'the VM ' || cid as what from vms where instance_id = ${id}
        union all select 'the disk ' || cid from persistent_disks where instance_id = ${id})
      select must(not exists (select 1 from held), ${INSTANCE_HOLDS},
        coalesce((select string_agg(what, ', ') from held), '') || ${`|${uuid}`})`,
    sql`delete from ip_addresses where instance_id = ${id}`,
    sql`delete from instances where uuid = ${uuid}`,
  ];
}

function addStray(stray: Parameters<Writes["addStray"]>[0]): Statement {
  const { kind, cpi, requestId } = stray;
  return sql`insert into strays (kind, cpi, request_id, about, why)
    select ${kind}, ${cpi}, ${requestId}, ${stray.about}, ${stray.why}
    where not exists (select 1 from strays
      where kind = ${kind} and cpi = ${cpi} and request_id = ${requestId})`;
}
