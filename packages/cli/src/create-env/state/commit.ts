import { BadWrite } from "@slipway/engine/journal/errors";
import type { JournalEntry } from "@slipway/engine/journal/journal";
import type { InstanceRecord } from "@slipway/engine/model/records";
import type { Random } from "@slipway/kernel/random";
import type { OwnInstance, StateDocument } from "./document.ts";
import { takeId } from "./reconcile.ts";

/** An entry of the journal, made in a draft of the state: our records and upstream's keys together. */
export function commitTo(draft: StateDocument, entry: JournalEntry, random: Random): void {
  const own = draft.slipway;
  const { close, instance, effects, open } = entry;
  if (close !== undefined) own.intents = own.intents.filter(({ id }) => id !== close.number);
  if (effects.orphanedVms.length > 0)
    throw BadWrite({ what: "a VM of an environment cannot be left behind: nobody would delete it" });
  own.unusedDisks = [...new Set([...own.unusedDisks, ...effects.orphanDisks.map(({ cid }) => cid)])];
  if (instance !== undefined) own.instance = ownOf(instance.after, instance.before, draft);
  for (const stray of effects.strays)
    if (!own.strays.some(({ requestId }) => requestId === stray.requestId))
      own.strays.push({ ...stray } as unknown as (typeof own.strays)[number]);
  writeStemcells(draft, effects, random);
  const deleted = effects.removeOrphanDisks;
  own.unusedDisks = own.unusedDisks.filter((cid) => !deleted.includes(cid));
  writeDisks(draft, deleted, instance?.before, random);
  if (instance !== undefined) writeCurrent(draft);
  if (open === undefined) return;
  const { number: id, instance: uuid, scope, step, version, intent, settlingRefused } = open;
  own.nextId = Math.max(own.nextId, id + 1);
  const refused = settlingRefused === true ? ({ settlingRefused } as const) : {};
  own.intents.push({ id, instance: uuid, scope, step, version, intent, ...refused });
}

/** Numbers are given once and tell what was made by which attempt; the steps know only their order. */
function ownOf(
  after: InstanceRecord | null,
  before: InstanceRecord,
  { slipway: own }: StateDocument,
): OwnInstance | null {
  if (after === null) return null;
  const known = own.instance;
  const wasCalled = (id: number) => before.disks.find((disk) => disk.id === id)?.cid;
  const vms = after.vms.map((vm) => ({
    ...structuredClone(vm),
    id: known?.vms.find(({ cid }) => cid === vm.cid)?.id ?? takeId(own),
  }));
  const disks = after.disks.map((disk) => ({
    ...structuredClone(disk),
    id: known?.disks.find(({ cid }) => cid === (wasCalled(disk.id) ?? disk.cid))?.id ?? takeId(own),
  }));
  const { updateCompleted, spec } = after;
  return {
    group: after.group,
    updateCompleted,
    spec,
    vms,
    disks,
  } as unknown as OwnInstance;
}

function writeStemcells(draft: StateDocument, effects: JournalEntry["effects"], random: Random): void {
  const { addStemcells: added, removeStemcells: removed } = effects;
  if (added.length + removed.length === 0) return;
  const kept = (draft.stemcells ?? []).filter((one) => !removed.some(({ cid }) => cid === one.cid));
  const fresh = added
    .filter(({ cid }) => !kept.some((one) => one.cid === cid))
    .map(({ name, version, apiVersion, cid }) => ({
      id: random.uuid(),
      name,
      version,
      api_version: apiVersion,
      cid,
    }));
  draft.stemcells = [...kept, ...fresh];
}

/** Upstream's list has every disk there is, also those that are to be deleted. */
function writeDisks(
  draft: StateDocument,
  deleted: readonly string[],
  before: InstanceRecord | undefined,
  random: Random,
): void {
  const entries = (draft.disks ?? []).filter(({ cid }) => !deleted.includes(cid));
  for (const disk of draft.slipway.instance?.disks ?? []) {
    const renamed = before?.disks.find(
      ({ cid }) => !draft.slipway.instance?.disks.some((d) => d.cid === cid),
    );
    const entry =
      entries.find(({ cid }) => cid === disk.cid) ??
      entries.find(({ cid }) => cid === renamed?.cid && !draft.slipway.unusedDisks.includes(cid));
    const values = { cid: disk.cid, size: disk.size, cloud_properties: disk.cloudProperties };
    if (entry === undefined) entries.push({ id: random.uuid(), ...values });
    else Object.assign(entry, values);
  }
  if (entries.length > 0 || draft.disks !== null) draft.disks = entries;
}

function writeCurrent(draft: StateDocument): void {
  const { instance } = draft.slipway;
  const vm = instance?.vms.at(-1);
  draft.current_vm_cid = vm?.cid ?? "";
  const { name, version } = vm?.stemcell ?? {};
  draft.current_stemcell_id =
    draft.stemcells?.find((one) => one.name === name && one.version === version)?.id ?? "";
  const active = instance?.disks.find((disk) => disk.active);
  draft.current_disk_id = draft.disks?.find(({ cid }) => cid === active?.cid)?.id ?? "";
}
