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

/** Those of a CPI's own name stand before those of its names of before, so that the newer upload is taken. */
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

/** The same journal, read with the names of today. What is recorded keeps its name until it is made anew. */
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
