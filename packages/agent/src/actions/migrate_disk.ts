import { arrivedDevice, cidOfSource, knownDisk, mountedAt, unmountPatiently } from "../disks/persistent.ts";
import type { AgentServices } from "../services.ts";
import type { Action } from "./action.ts";
import { NothingToMigrate } from "./errors.ts";

/**
 * Copies the store to the disk on the migration target and puts that disk in its place. The old disk is read-only while
 * it is copied. Once the copy was compared and found equal, the new disk is recorded as the one that belongs on the
 * store: from then on every repeat and every boot finishes the change, before that they go back to the old disk.
 */
export const migrateDisk: Action<"migrate_disk"> = async ({ newCid }, { services, signal }) => {
  const { paths, managedDisk, migratedDisk } = services;
  const to = await mountedAt(services, paths.migrationTarget);
  const cid = to === undefined ? undefined : await cidOfSource(services, to, signal);
  // A target that is not the disk which was named is not copied to: a finished change would be turned back.
  const named = cid !== undefined && cid === (newCid ?? cid);
  if (named && (await managedDisk.load()) !== cid) {
    const from = (await mountedAt(services, paths.store)) ?? (await remountManaged(services, signal));
    await copyOrGoBack(services, from, signal);
    await migratedDisk.save(cid);
    await managedDisk.save(cid);
  }
  const belongs = await managedDisk.load();
  // Without a target, only a change that was under way can be meant; anything else would be success for no work.
  // A new disk that was mounted on an empty store, since the VM came back without the old one, was never filled.
  const filled = named || (await migratedDisk.load()) === newCid;
  const underWay =
    belongs === newCid ? filled : named || (await mountedAt(services, paths.store)) === undefined;
  if (belongs === undefined || !underWay)
    throw NothingToMigrate({ store: paths.store, target: paths.migrationTarget });
  await putOnStore(services, belongs, signal);
  if (newCid !== undefined && belongs !== newCid)
    throw NothingToMigrate({ store: paths.store, target: paths.migrationTarget });
  return {};
};

async function copyOrGoBack(services: AgentServices, from: string, signal: AbortSignal): Promise<void> {
  const { paths } = services;
  const { disks } = services.platform;
  await disks.remountReadOnly(paths.store);
  try {
    await disks.copy(paths.store, paths.migrationTarget);
  } catch (error) {
    // The old disk goes on as it was; the new one holds nothing that anybody was told of.
    const cid = await cidOfSource(services, from, signal);
    await unmountPatiently(services, paths.store, signal);
    await disks.mount(
      from,
      paths.store,
      cid === undefined ? [] : (await knownDisk(services, cid)).mountOptions,
    );
    throw error;
  }
}

/** The store was unmounted by an agent that died while it went back to the old disk. */
async function remountManaged(services: AgentServices, signal: AbortSignal): Promise<string> {
  const { paths } = services;
  const cid = await services.managedDisk.load();
  if (cid === undefined) throw NothingToMigrate({ store: paths.store, target: paths.migrationTarget });
  return await mountOnStore(services, cid, signal);
}

async function putOnStore(services: AgentServices, cid: string, signal: AbortSignal): Promise<void> {
  const { paths } = services;
  const { disks } = services.platform;
  const disk = await knownDisk(services, cid);
  const source = await disks.mountSource(await arrivedDevice(services, disk, signal));
  const there = await mountedAt(services, paths.store);
  if (there !== undefined && there !== source) await unmountPatiently(services, paths.store, signal);
  if ((await mountedAt(services, paths.migrationTarget)) !== undefined) {
    await unmountPatiently(services, paths.migrationTarget, signal);
  }
  if (there !== source) await disks.mount(source, paths.store, disk.mountOptions);
}

async function mountOnStore(services: AgentServices, cid: string, signal: AbortSignal): Promise<string> {
  const disk = await knownDisk(services, cid);
  const { disks } = services.platform;
  const source = await disks.mountSource(await arrivedDevice(services, disk, signal));
  await disks.mount(source, services.paths.store, disk.mountOptions);
  return source;
}
