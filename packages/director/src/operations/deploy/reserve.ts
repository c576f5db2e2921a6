import { KnownInstances } from "@slipway/engine/flows/run-instance";
import { newInstance } from "@slipway/engine/model/goal";
import type { Plan, PlanInput } from "@slipway/engine/plan/model";
import { type DeploymentRecord, useStemcells } from "../../store/deployments.ts";
import { createInstances, withdrawReservations } from "../../store/instances.ts";
import type { TaskContext } from "../../tasks/task.ts";

/** Reservations of a deploy before any call to the cloud. */
export interface Reserved {
  /** Instances of the deployment as known from now on. */
  readonly known: KnownInstances;
  /** Gives back what was reserved, for a deploy that fails before it changes anything. */
  withdraw(): Promise<void>;
}

/** New instances, all addresses and the stemcells are the deployment's before anything is asked of the cloud. */
export async function reserve(
  { desired, stemcells }: Plan,
  { instances }: PlanInput,
  { id, name }: DeploymentRecord,
  task: TaskContext,
): Promise<Reserved> {
  const recorded = new Map(instances.map((instance) => [instance.uuid, instance]));
  const fresh = desired.filter((instance) => {
    const before = recorded.get(instance.uuid);
    if (before === undefined || before.group !== instance.group || before.index !== instance.index)
      return true;
    if (before.errand !== instance.errand || before.bootstrap !== instance.bootstrap) return true;
    return instance.ips.some(({ address }) => !before.ips.some((ip) => ip.address === address));
  });
  const ids = stemcells.map((stemcell) => stemcell.id);
  await task.write(async (db) => {
    await createInstances(db, name, task.id, fresh);
    await useStemcells(db, id, ids);
  });
  const changed = new Set<string>(fresh.map(({ uuid }) => uuid));
  // As they were recorded just now; what was there before and got another address is read again.
  const created = fresh.filter(({ uuid }) => !recorded.has(uuid));
  const known = new KnownInstances(task.journal, [
    ...instances.filter(({ uuid }) => !changed.has(uuid)),
    ...created.map(newInstance),
  ]);
  const withdraw = () =>
    task.write((db) =>
      withdrawReservations(db, name, task.id, {
        desired: desired.map(({ uuid }) => uuid),
        changed: instances.filter(({ uuid }) => changed.has(uuid)),
      }),
    );
  return { known, withdraw };
}
