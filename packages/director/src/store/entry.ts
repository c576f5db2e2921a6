import type { JournalEntry } from "@slipway/engine/journal/journal";
import { type NewSnapshot, NO_EFFECTS, type Stray } from "@slipway/engine/journal/writes";
import type { AuditEvent } from "@slipway/engine/model/audit-event";
import type { DiskRecord, InstanceRecord, VmRecord } from "@slipway/engine/model/records";
import { PARENT_OF_SAME_TASK } from "./events.ts";
import { Sealed } from "./sealed.ts";

export interface Payload {
  readonly documents: readonly object[];
  readonly intents: readonly Sealed[];
  readonly envs: readonly Sealed[];
}

/** Entries of the journal as `write_journal` takes them; intents and the env of VMs go apart, sealed. */
export function payloadOf(entries: readonly JournalEntry[]): Payload {
  const intents: Sealed[] = [];
  const envs: Sealed[] = [];
  const documents = entries.map((entry) => documentOf(entry, intents, envs));
  return { documents, intents, envs };
}

function documentOf(
  { close, instance, effects, open, events }: JournalEntry,
  intents: Sealed[],
  envs: Sealed[],
): object {
  const changes = instance && changesOf(instance.before, instance.after, effects, envs);
  const { addStemcells: added, removeStemcells: removed } = effects;
  return {
    ...(close !== undefined && { close: { task: close.taskId, number: close.number } }),
    ...(changes !== undefined && { instance: changes }),
    ...(effects !== NO_EFFECTS && {
      ...(effects.strays.length > 0 && { strays: effects.strays.map(strayRow) }),
      ...(added.length + removed.length > 0 && {
        stemcells: {
          add_stemcells: added.map(({ operatingSystem, apiVersion, ...row }) => ({
            ...row,
            operating_system: operatingSystem,
            api_version: apiVersion,
          })),
          remove_stemcells: removed,
        },
      }),
      ...(effects.removeOrphanDisks.length > 0 && { gone_orphan_disks: effects.removeOrphanDisks }),
      ...(effects.removeOrphanedVms.length > 0 && { gone_orphaned_vms: effects.removeOrphanedVms }),
      ...some("snapshots", effects.addSnapshots.map(snapshotRow)),
      ...some("gone_snapshots", effects.removeSnapshots),
      ...some(
        "subnets",
        effects.addSubnets.map(({ cloudProperties, ...row }) => ({
          ...row,
          cloud_properties: cloudProperties,
        })),
      ),
      ...some("gone_subnets", effects.removeSubnets),
    }),
    ...(events.length > 0 && { events: events.map(eventRow) }),
    ...(open !== undefined && {
      open: {
        nth: intents.push(new Sealed(open.intent)),
        number: open.number,
        scope: open.scope,
        instance: open.instance,
        step: open.step,
        version: open.version,
        ...(open.settlingRefused === true && { settling_refused: true }),
      },
    }),
  };
}

const some = <K extends string, T>(key: K, list: readonly T[]) => (list.length > 0 ? { [key]: list } : {});

/** The rows that differ. What the writes did not touch is the same object before and after. */
function changesOf(
  before: InstanceRecord,
  after: InstanceRecord | null,
  effects: JournalEntry["effects"],
  envs: Sealed[],
): object {
  const vms = (after?.vms ?? []).filter((vm) => !before.vms.includes(vm));
  const disks = (after?.disks ?? []).filter((disk) => !before.disks.includes(disk));
  const left = new Set((after?.ips ?? []).map(({ address }) => address));
  const passedOn = new Set(effects.orphanedVms.flatMap(({ addresses }) => addresses));
  for (const { addresses } of effects.strays) for (const address of addresses) passedOn.add(address);
  const free = before.ips.flatMap(({ address }) =>
    left.has(address) || passedOn.has(address) ? [] : [address],
  );
  const set = after === null ? {} : columnsOf(before, after);
  const rows = disks.map((disk, at) => diskRow(disk, before, at + 1));
  return {
    uuid: before.uuid,
    ...some(
      "gone_vms",
      before.vms.flatMap(({ cid }) => (after?.vms.some((vm) => vm.cid === cid) ? [] : [cid])),
    ),
    ...some(
      "vms",
      vms.map((vm) => vmRow(vm, envs.push(new Sealed(vm.env)))),
    ),
    ...some(
      "gone_disks",
      before.disks.flatMap(({ id, cid }) => (after?.disks.some((disk) => disk.id === id) ? [] : [cid])),
    ),
    ...some("disks", rows),
    ...(rows.some(({ cid, was }) => cid !== was) && { renamed: true }),
    ...some(
      "orphan_disks",
      effects.orphanDisks.map(({ cid, size, cloudProperties, cpi }) => ({
        cid,
        size,
        cloud_properties: cloudProperties,
        cpi,
      })),
    ),
    ...some(
      "orphaned_vms",
      effects.orphanedVms.map(({ vm, addresses }) => ({
        cid: vm.cid,
        cpi: vm.cpi,
        // Kept for the one call that deletes it: a VM with an entry in the registry counts as one of an old stemcell.
        stemcell_api_version: vm.channel === "registry" ? 1 : vm.stemcell.apiVersion,
        addresses,
      })),
    ),
    ...(Object.keys(set).length > 0 && { set }),
    ...(after !== null && some("free_ips", free)),
    ...(after === null && { removed: true }),
  };
}

function columnsOf(before: InstanceRecord, after: InstanceRecord): object {
  return {
    ...(after.state !== before.state && { state: after.state }),
    ...(after.az !== before.az && { az: after.az }),
    ...(after.bootstrap !== before.bootstrap && { bootstrap: after.bootstrap }),
    ...(after.updateCompleted !== before.updateCompleted && { update_completed: after.updateCompleted }),
    ...(after.spec !== before.spec && { spec: after.spec }),
  };
}

const vmRow = (vm: VmRecord, nth: number) => ({
  nth,
  cid: vm.cid,
  agent_id: vm.agentId,
  active: vm.active,
  cpi: vm.cpi,
  created_ms: vm.createdAt,
  stemcell_name: vm.stemcell.name,
  stemcell_version: vm.stemcell.version,
  stemcell_api_version: vm.stemcell.apiVersion,
  api_version: vm.apiVersion,
  channel: vm.channel,
  cloud_properties: vm.cloudProperties,
  networks: vm.networks,
  disks: vm.disks,
  agent_url: vm.agentUrl,
  until_ms: vm.certificateUntil,
  ready: vm.ready,
  agent_env: vm.agentEnv ?? null,
  nats_trust: vm.natsTrust ?? null,
});

const diskRow = (disk: DiskRecord, before: InstanceRecord, nth: number) => ({
  nth,
  cid: disk.cid,
  // A CPI may give a disk another cid; the number in hand stays.
  was: before.disks.find(({ id }) => id === disk.id)?.cid ?? disk.cid,
  name: disk.name ?? "",
  size: disk.size,
  cloud_properties: disk.cloudProperties,
  cpi: disk.cpi,
  active: disk.active,
  attached_to: disk.attachedTo,
  hint: disk.hint,
  mounted: disk.mounted,
  created_ms: disk.createdAt ?? null,
});

const strayRow = ({ kind, cpi, requestId, about, why, addresses }: Stray) => ({
  kind,
  cpi,
  request_id: requestId,
  about,
  why,
  addresses,
});

const snapshotRow = ({ cid, cpi, disk, clean, createdAt, task }: NewSnapshot) => ({
  cid,
  cpi,
  disk_cid: disk,
  clean,
  created_ms: createdAt,
  task_id: task,
});

const eventRow = (event: AuditEvent) => ({
  parent_id: event.ends === true ? PARENT_OF_SAME_TASK : (event.parentId ?? null),
  action: event.action,
  object_type: event.objectType,
  object_name: event.objectName,
  error: event.error ?? null,
  deployment: event.deployment ?? null,
  instance: event.instance ?? null,
  context: event.context ?? {},
});
