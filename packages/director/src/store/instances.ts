import { BadWrite } from "@slipway/engine/journal/errors";
import type { DesiredInstance } from "@slipway/engine/model/goal";
import type { InstanceUuid } from "@slipway/engine/model/names";
import type { InstanceJobs, InstanceRecord, InstanceState } from "@slipway/engine/model/records";
import { sql } from "kysely";
import { refusal, UNIQUE_VIOLATION } from "./failures.ts";
import { reserveIps } from "./ips.ts";
import { inTransaction } from "./open.ts";
import { readInstances } from "./records.ts";
import type { Db } from "./schema.ts";

const inDeployment = (deployment: string) =>
  sql`i.deployment_id = (select id from deployments where name = ${deployment})`;

/** Loads all instances of a deployment with their VMs, disks and addresses, by group and index; one round trip for any number. */
export const loadInstances = (db: Db, deployment: string): Promise<InstanceRecord[]> =>
  readInstances(db, inDeployment(deployment));

/** Finds an instance by uuid, or by index within its group. */
export async function findInstance(
  db: Db,
  deployment: string,
  group: string,
  idOrIndex: string,
): Promise<InstanceRecord | undefined> {
  const which = /^\d{1,9}$/.test(idOrIndex)
    ? sql`i.index = ${Number(idOrIndex)}`
    : sql`i.uuid = ${idOrIndex}`;
  const found = await readInstances(
    db,
    sql`${inDeployment(deployment)} and i.group_name = ${group} and ${which}`,
  );
  return found[0];
}

/** Fields of a planned instance when it is first recorded. */
export type NewInstance = Pick<
  DesiredInstance,
  "uuid" | "group" | "index" | "az" | "state" | "bootstrap" | "errand" | "ips"
> & { readonly compilation?: boolean };

/**
 * Records them and reserves their addresses, all or nothing. Those that are recorded already get the addresses, the group
 * they have migrated to, and its lifecycle: an errand is never stopped with `--hard`, it only has no VM. Also who is the
 * bootstrap instance, which may be one that nothing else is done about.
 */
export function createInstances(
  db: Db,
  deployment: string,
  taskId: number,
  instances: readonly NewInstance[],
): Promise<void> {
  if (instances.length === 0) return Promise.resolve();
  return inTransaction(db, async (tx) => {
    const rows = instances.map(({ ips: _, ...row }) => row);
    const { rows: made } = await sql<{ there: number }>`
      with d as (select id from deployments where name = ${deployment}),
      added as (
        insert into instances (deployment_id, uuid, group_name, index, az, state, bootstrap, compilation, errand)
        select d.id, x.uuid, x."group", x.index, x.az, x.state, x.bootstrap, coalesce(x.compilation, false),
          coalesce(x.errand, false)
        from d, jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
          as x(uuid text, "group" text, index integer, az text, state text, bootstrap boolean, compilation boolean,
            errand boolean)
        on conflict (uuid) do update set group_name = excluded.group_name, index = excluded.index,
          errand = excluded.errand, bootstrap = excluded.bootstrap,
          state = case when excluded.errand and instances.state = 'detached' then 'started' else instances.state end,
          update_completed = instances.update_completed and instances.group_name = excluded.group_name
        returning 1)
      select count(*) as there from d`
      .execute(tx)
      .catch((error: unknown) => {
        if (refusal(error)?.state !== UNIQUE_VIOLATION) throw error;
        throw BadWrite(
          { what: `two instances of ${deployment} would share a group and index` },
          { cause: error },
        );
      });
    if (made[0]?.there !== 1)
      throw BadWrite({ what: `there is no deployment ${deployment} to add instances to` });
    await reserveIps(
      tx,
      taskId,
      instances.flatMap(({ uuid, ips }) => ips.map((ip) => ({ instance: uuid, ip }))),
    );
  });
}

/**
 * Undoes `createInstances` of a task that has changed nothing since, also in an earlier life: removes the instances that
 * are only reserved, gives back the addresses, and renames migrated instances back. What a VM uses by now stays, and so do
 * instances of errands, which have nothing but their record.
 */
export function withdrawReservations(
  db: Db,
  deployment: string,
  taskId: number,
  { desired, changed }: { readonly desired: readonly string[]; readonly changed: readonly InstanceRecord[] },
): Promise<void> {
  return inTransaction(db, async (tx) => {
    const now = (await loadInstances(tx, deployment)).filter(({ compilation }) => compilation !== true);
    const spare = now.flatMap(({ uuid, ips, vms }) => {
      const used = new Set(vms.flatMap(({ networks }) => Object.values(networks).map(({ ip }) => ip)));
      return ips.flatMap(({ address }) => (used.has(address.split("/", 1)[0]) ? [] : [{ uuid, address }]));
    });
    await sql`
      delete from ip_addresses p using instances i,
        jsonb_to_recordset(${JSON.stringify(spare)}::jsonb) as x(uuid text, address text)
      where p.instance_id = i.id and i.uuid = x.uuid and p.address = x.address and p.task_id = ${taskId}`.execute(
      tx,
    );
    const wanted = new Set(desired);
    const empty = now
      .filter(
        ({ uuid, vms, disks, spec, errand }) =>
          wanted.has(uuid) && errand !== true && spec === null && vms.length + disks.length === 0,
      )
      .map(({ uuid }) => uuid);
    await sql`
      delete from instances i where i.uuid = any(${empty}::text[])
        and not exists (select from ip_addresses p where p.instance_id = i.id)`.execute(tx);
    const before = changed.map(
      ({ uuid, group, index, state, bootstrap, errand = false, updateCompleted: completed }) => ({
        ...{ uuid, group, index, state, bootstrap, errand, completed },
      }),
    );
    await sql`
      update instances i set group_name = x."group", index = x.index, update_completed = x.completed,
        state = x.state, bootstrap = x.bootstrap, errand = x.errand
      from jsonb_to_recordset(${JSON.stringify(before)}::jsonb)
        as x(uuid text, "group" text, index integer, state text, bootstrap boolean, errand boolean, completed boolean)
      where i.uuid = x.uuid`.execute(tx);
  });
}

/** Sets whether an instance is ignored; returns false if it does not exist. */
export async function setIgnore(db: Db, uuid: string, ignore: boolean): Promise<boolean> {
  const result = await db
    .updateTable("instances")
    .set({ ignore })
    .where("uuid", "=", uuid)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** The desired state; false when there is no such instance. */
export async function setState(db: Db, uuid: string, state: InstanceState): Promise<boolean> {
  const result = await db.updateTable("instances").set({ state }).where("uuid", "=", uuid).executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/**
 * Records what templates have seen that were rendered to the files that are recorded already: the next deploy finds nothing
 * changed without rendering them.
 */
export async function recordInputs(
  db: Db,
  recorded: readonly Pick<InstanceRecord, "uuid" | "spec">[],
  jobs: ReadonlyMap<InstanceUuid, InstanceJobs>,
): Promise<void> {
  const rows = recorded.flatMap(({ uuid, spec }) => {
    const { inputs, configurationHash: hash } = jobs.get(uuid) ?? {};
    const before = spec?.jobs;
    return inputs === undefined || before?.configurationHash !== hash || before?.inputs === inputs
      ? []
      : [{ uuid, inputs, hash }];
  });
  if (rows.length === 0) return;
  await sql`
    update instances i set spec = jsonb_set(i.spec, '{jobs,inputs}', to_jsonb(x.inputs))
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as x(uuid text, inputs text, hash text)
    where i.uuid = x.uuid and i.spec #>> '{jobs,configurationHash}' = x.hash`.execute(db);
}
