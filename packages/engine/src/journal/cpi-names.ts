import type { CpiName } from "../model/names.ts";
import type { InstanceRecord, StemcellRecord } from "../model/records.ts";
import type { Journal } from "./journal.ts";

type NameOf = (recorded: CpiName) => CpiName;

/** The same instance with the names that its CPIs have today; the very same object where nothing was renamed. */
export function withCpiNames(instance: InstanceRecord, nameOf: NameOf): InstanceRecord {
  const old = ({ cpi }: { readonly cpi: CpiName }) => nameOf(cpi) !== cpi;
  if (!instance.vms.some(old) && !instance.disks.some(old)) return instance;
  const today = <T extends { readonly cpi: CpiName }>(one: T): T =>
    old(one) ? { ...one, cpi: nameOf(one.cpi) } : one;
  return { ...instance, vms: instance.vms.map(today), disks: instance.disks.map(today) };
}

/** Lists stemcells under a CPI's current name before those under its former names, so that the newer upload is used. */
export function stemcellsByCpiName<T extends StemcellRecord>(
  stemcells: readonly T[],
  nameOf: NameOf,
): readonly T[] {
  const old = stemcells.filter(({ cpi }) => nameOf(cpi) !== cpi);
  if (old.length === 0) return stemcells;
  return [
    ...stemcells.filter(({ cpi }) => nameOf(cpi) === cpi),
    ...old.map((one) => ({ ...one, cpi: nameOf(one.cpi) })),
  ];
}

/** Returns the same journal, read with the current names. Records keep their name until the resource is created again. */
export const journalWithCpiNames = (journal: Journal, nameOf: NameOf): Journal => {
  const today = (instance: InstanceRecord | undefined) => instance && withCpiNames(instance, nameOf);
  return {
    taskId: journal.taskId,
    newNumber: () => journal.newNumber(),
    commit: (entry) => journal.commit(entry),
    openIntents: (scope) => journal.openIntents(scope),
    instance: async (uuid) => today(await journal.instance(uuid)),
    ownerOf: async (id) => today(await journal.ownerOf(id)),
  };
};
