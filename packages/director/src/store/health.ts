import type { GroupName, InstanceUuid } from "@slipway/engine/model/names";
import type { InstanceState } from "@slipway/engine/model/records";
import type { AgentId } from "@slipway/protocol/ids";
import { sql } from "kysely";
import type { Db } from "./schema.ts";

/** Records of an instance that its health depends on. */
export interface WatchedInstance {
  readonly deployment: string;
  readonly uuid: InstanceUuid;
  readonly group: GroupName;
  readonly index: number;
  /** Desired. */
  readonly state: InstanceState;
  /** True for an instance that has a VM only while its errand runs, or if the VM was kept. */
  readonly errand: boolean;
  readonly ignore: boolean;
  /** True if its VM is not to be replaced without a request until that is taken back. */
  readonly paused: boolean;
  readonly updateCompleted: boolean;
  /** An update of it and a deploy have ended well once: it has something to miss, and it is known what. */
  readonly deployed: boolean;
  readonly vm: WatchedVm | undefined;
  /** Last resurrection that has not been seen to end well. */
  readonly resurrection: Resurrection | undefined;
}

export interface WatchedVm {
  readonly cid: string;
  readonly agentId: AgentId;
  readonly agentUrl: string;
  readonly certificateUntil: number | null;
  /** The disk that is to be mounted. */
  readonly disk: string | undefined;
}

export interface Resurrection {
  readonly task: number;
  readonly attempts: number;
  /** True if its task has begun to replace the VM. */
  readonly begun: boolean;
}

/** All instances of all deployments in one round trip, without what their health does not depend on. */
export async function watchedInstances(db: Db): Promise<WatchedInstance[]> {
  const { rows } = await sql<{
    deployment: string;
    uuid: InstanceUuid;
    group_name: GroupName;
    index: number;
    state: InstanceState;
    errand: boolean;
    ignore: boolean;
    paused: boolean;
    update_completed: boolean;
    deployed: boolean;
    cid: string | null;
    agent_id: AgentId | null;
    agent_url: string | null;
    certificate_until: Date | null;
    disk: string | null;
    task_id: number | null;
    attempts: number | null;
    begun: boolean | null;
  }>`
    select d.name as deployment, i.uuid, i.group_name, i.index, i.state, i.errand, i.ignore, i.resurrection_paused as paused,
      i.update_completed,
      i.spec is not null and d.manifest_sealed is not null as deployed, v.cid, v.agent_id, v.agent_url, v.certificate_until,
      p.cid as disk, r.task_id, r.attempts, r.begun
    from instances i
    join deployments d on d.id = i.deployment_id
    left join vms v on v.instance_id = i.id and v.active
    left join persistent_disks p on p.instance_id = i.id and p.active and p.name = ''
    left join resurrections r on r.instance_id = i.id
    where not i.compilation
    order by d.name, i.group_name, i.index`.execute(db);
  return rows.map((row) => ({
    deployment: row.deployment,
    uuid: row.uuid,
    group: row.group_name,
    index: row.index,
    state: row.state,
    errand: row.errand,
    ignore: row.ignore,
    paused: row.paused,
    updateCompleted: row.update_completed,
    deployed: row.deployed,
    vm:
      row.cid === null || row.agent_id === null
        ? undefined
        : {
            cid: row.cid,
            agentId: row.agent_id,
            agentUrl: row.agent_url ?? "",
            certificateUntil: row.certificate_until?.getTime() ?? null,
            disk: row.disk ?? undefined,
          },
    resurrection:
      row.task_id === null
        ? undefined
        : { task: row.task_id, attempts: row.attempts ?? 0, begun: row.begun ?? false },
  }));
}

/** A task was queued that looks after these instances. */
export async function noteResurrections(db: Db, uuids: readonly string[], task: number): Promise<void> {
  await sql`
    insert into resurrections as r (instance_id, task_id, attempts)
    select id, ${task}::bigint, 1 from instances where uuid = any(${[...uuids]}::text[])
    on conflict (instance_id) do update set task_id = excluded.task_id, attempts = r.attempts + 1`.execute(
    db,
  );
}

/** Records that VMs are being replaced: whatever becomes of the task, the instances are not well before that is done. */
export async function beginResurrections(db: Db, uuids: readonly string[], task: number): Promise<void> {
  await sql`
    insert into resurrections (instance_id, task_id, begun)
    select id, ${task}::bigint, true from instances where uuid = any(${[...uuids]}::text[])
    on conflict (instance_id) do update set task_id = excluded.task_id, begun = true`.execute(db);
}

export async function endResurrections(db: Db, uuids: readonly string[]): Promise<void> {
  await sql`
    delete from resurrections where instance_id in (
      select id from instances where uuid = any(${[...uuids]}::text[]))`.execute(db);
}

/** Returns those of the instances whose VM a task has begun to replace, with no good end so far. */
export async function startedResurrections(db: Db, uuids: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await db
    .selectFrom("resurrections as r")
    .innerJoin("instances as i", "i.id", "r.instance_id")
    .select("i.uuid")
    .where("r.begun", "=", true)
    .where(sql<boolean>`i.uuid = any(${[...uuids]}::text[])`)
    .execute();
  return new Set(rows.map(({ uuid }) => uuid));
}

export interface OpenResurrection {
  readonly task: number;
  readonly deployment: string | null;
  /** Ids of the instances, as far as the task says. */
  readonly instances: readonly string[];
}

/** Tasks that wait or run. */
export async function openResurrections(db: Db): Promise<readonly OpenResurrection[]> {
  const rows = await db
    .selectFrom("tasks")
    .select(["id", "deployment_name", "params_sealed"])
    .where("type", "=", "cck_scan_and_fix")
    .where("state", "in", ["queued", "processing", "cancelling"])
    .execute();
  return rows.map(({ id, deployment_name: deployment, params_sealed: { instances } }) => ({
    task: id,
    deployment,
    instances: Array.isArray(instances) ? instances.map(String) : [],
  }));
}

/** Returns the task that has the lock of a deployment, by deployment. */
export async function lockedDeployments(
  db: Db,
): Promise<ReadonlyMap<string, { readonly task: number; readonly description: string }>> {
  const rows = await db
    .selectFrom("locks as l")
    .innerJoin("tasks as t", "t.id", "l.task_id")
    .select(["l.name", "t.id", "t.description"])
    .where("l.name", "like", "lock:deployment:%")
    .where("t.state", "in", ["queued", "processing", "cancelling"])
    .execute();
  return new Map(
    rows.map(({ name, id, description }) => [
      name.slice("lock:deployment:".length),
      { task: id, description },
    ]),
  );
}

/** Pauses or resumes resurrection; returns false if the instance does not exist. */
export async function setResurrectionPaused(db: Db, uuid: string, paused: boolean): Promise<boolean> {
  const result = await db
    .updateTable("instances")
    .set({ resurrection_paused: paused })
    .where("uuid", "=", uuid)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}
