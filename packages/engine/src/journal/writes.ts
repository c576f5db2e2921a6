import type { DiskCid, NetworkCid, SnapshotCid, StemcellCid, VmCid } from "@slipway/protocol/ids";
import type { JsonObject } from "@slipway/protocol/schema/json";
import type { DiskHintWire } from "@slipway/protocol/settings/disk-hint";
import type { Disks } from "@slipway/protocol/settings/disks";
import type { Networks } from "@slipway/protocol/settings/networks";
import {
  type AppliedSpec,
  type DiskRecord,
  firstAddress,
  type InstanceRecord,
  type InstanceState,
  type StemcellRecord,
  type SubnetRecord,
  type VmRecord,
} from "../model/records.ts";
import { BadWrite, InstanceHolds } from "./errors.ts";

/** A resource in the cloud that no record names. Shown to the operator, never deleted by itself. */
export interface Stray {
  readonly kind: "vm" | "disk" | "stemcell" | "snapshot" | "network";
  readonly cpi: string;
  readonly requestId: string;
  readonly about: string;
  readonly why: string;
  /** Addresses that the resource may answer at: no instance gets them while it is listed. */
  readonly addresses: readonly string[];
}

export type NewStemcell = Omit<StemcellRecord, "id"> & { readonly digest: string };

export interface NewSnapshot {
  readonly cid: SnapshotCid;
  readonly cpi: string;
  readonly disk: DiskCid;
  readonly clean: boolean;
  readonly createdAt: number;
  /** Task that asked for the snapshot. */
  readonly task: number;
}

/** Changes to the records that the outcome of a step makes. */
export interface Writes {
  addVm(vm: Omit<VmRecord, "id">): void;
  activateVm(cid: VmCid): void;
  updateVm(
    cid: VmCid,
    change: Partial<{
      networks: Networks;
      disks: Disks;
      ready: boolean;
      agentUrl: string;
      certificateUntil: number;
      natsTrust: string | undefined;
    }>,
  ): void;
  /** The VM is gone from the cloud: its record and what was attached to it in our records. */
  removeVm(cid: VmCid): void;
  /** The VM is left to the clean-up, with its addresses. */
  orphanVm(cid: VmCid): void;
  addDisk(
    disk: Pick<DiskRecord, "cid" | "name" | "size" | "cloudProperties" | "cpi" | "active" | "createdAt">,
  ): void;
  updateDisk(
    cid: DiskCid,
    change: Partial<{
      cid: DiskCid;
      size: number;
      cloudProperties: JsonObject;
      attachedTo: VmCid | null;
      hint: DiskHintWire | null;
      mounted: boolean;
      snapshotTask: number;
    }>,
  ): void;
  /** `cid` becomes the active disk of its instance and name, the one before it inactive. */
  switchDisk(cid: DiskCid): void;
  /** Out of the instance, into the orphan list. The only way a disk leaves an instance. */
  orphanDisk(cid: DiskCid): void;
  updateInstance(
    change: Partial<{
      state: InstanceState;
      az: string | null;
      bootstrap: boolean;
      updateCompleted: boolean;
      spec: AppliedSpec;
      /** Addresses it keeps; others it held are free again. */
      keepIps: readonly string[];
    }>,
  ): void;
  /** Removes the instance, which must have neither VM nor disk. */
  removeInstance(): void;
  addStray(stray: Stray): void;
  addStemcell(stemcell: NewStemcell): void;
  removeStemcell(cid: StemcellCid, cpi: string): void;
  /** Deleted from the cloud, so out of the orphan list. */
  removeOrphanDisk(cid: DiskCid): void;
  removeOrphanedVm(cid: VmCid): void;
  addSnapshot(snapshot: NewSnapshot): void;
  removeSnapshot(cid: SnapshotCid, cpi: string): void;
  /** Adds a subnet of a managed network, made by the CPI. */
  addSubnet(subnet: SubnetRecord): void;
  removeSubnet(cid: NetworkCid, cpi: string): void;
}

/** Changes beside those of the instance itself. */
export interface Effects {
  readonly orphanDisks: readonly DiskRecord[];
  readonly orphanedVms: readonly { readonly vm: VmRecord; readonly addresses: readonly string[] }[];
  readonly strays: readonly Stray[];
  readonly addStemcells: readonly NewStemcell[];
  readonly removeStemcells: readonly { readonly cid: StemcellCid; readonly cpi: string }[];
  readonly removeOrphanDisks: readonly DiskCid[];
  readonly removeOrphanedVms: readonly VmCid[];
  readonly addSnapshots: readonly NewSnapshot[];
  readonly removeSnapshots: readonly { readonly cid: SnapshotCid; readonly cpi: string }[];
  readonly addSubnets: readonly SubnetRecord[];
  readonly removeSubnets: readonly { readonly cid: NetworkCid; readonly cpi: string }[];
}

export const NO_EFFECTS: Effects = {
  orphanDisks: [],
  orphanedVms: [],
  strays: [],
  addStemcells: [],
  removeStemcells: [],
  removeOrphanDisks: [],
  removeOrphanedVms: [],
  addSnapshots: [],
  removeSnapshots: [],
  addSubnets: [],
  removeSubnets: [],
};

export interface Written {
  /** Null: the instance was removed; undefined: there is no instance. */
  readonly instance: InstanceRecord | null | undefined;
  readonly effects: Effects;
}

/**
 * Applies writes to what is known of an instance. The one implementation: the database and the state file keep what
 * comes out. What the writes do not touch stays the same object, so that a store sees what changed.
 */
export function applyWrites(
  given: InstanceRecord | null | undefined,
  effects: Effects,
  write: (writes: Writes) => void,
): Written {
  let now = given;
  let also = effects;
  const instance = (): InstanceRecord => now ?? refuse("there is no instance to change");
  const change = (over: Partial<InstanceRecord>) => {
    now = { ...instance(), ...over };
  };
  const vm = (cid: VmCid): VmRecord =>
    instance().vms.find((one) => one.cid === cid) ?? refuse(`the instance has no VM ${cid}`);
  const disk = (cid: DiskCid): DiskRecord =>
    instance().disks.find((one) => one.cid === cid) ?? refuse(`the instance has no disk ${cid}`);
  const replaceVm = (before: VmRecord, after: VmRecord) =>
    change({ vms: instance().vms.map((one) => (one === before ? after : one)) });
  const replaceDisk = (before: DiskRecord, after: DiskRecord) =>
    change({ disks: instance().disks.map((one) => (one === before ? after : one)) });

  write({
    addVm: (added) => {
      if (instance().vms.some(({ cid }) => cid === added.cid)) return;
      change({ vms: [...instance().vms, { ...added, id: nextId(instance().vms) }] });
    },
    activateVm: (cid) => {
      vm(cid);
      change({ vms: onlyActive(instance().vms, cid) });
    },
    updateVm: (cid, over) => replaceVm(vm(cid), { ...vm(cid), ...defined(over) }),
    removeVm: (cid) => change(withoutVm(instance(), cid)),
    orphanVm: (cid) => {
      const gone = vm(cid);
      const left = withoutVm(instance(), cid);
      const shared = new Set(left.vms.flatMap(addressesOf));
      const its = new Set(addressesOf(gone).filter((one) => !shared.has(one)));
      const held = instance().ips.filter((ip) => its.has(firstAddress(ip)));
      const addresses = held.map(({ address }) => address);
      change({ ...left, ips: instance().ips.filter(({ address }) => !addresses.includes(address)) });
      also = { ...also, orphanedVms: [...also.orphanedVms, { vm: gone, addresses }] };
    },
    addDisk: (added) => {
      if (instance().disks.some(({ cid }) => cid === added.cid)) return;
      const unused = { attachedTo: null, hint: null, mounted: false };
      change({ disks: [...instance().disks, { ...added, ...unused, id: nextId(instance().disks) }] });
    },
    updateDisk: (cid, over) => replaceDisk(disk(cid), { ...disk(cid), ...defined(over) }),
    switchDisk: (cid) => {
      const { name } = disk(cid);
      change({ disks: onlyActive(instance().disks, cid, (one) => one.name === name) });
    },
    orphanDisk: (cid) => {
      const gone = disk(cid);
      change({ disks: instance().disks.filter((one) => one !== gone) });
      also = { ...also, orphanDisks: [...also.orphanDisks, gone] };
    },
    updateInstance: ({ keepIps, ...over }) => {
      const ips = instance().ips;
      const kept = keepIps === undefined ? ips : ips.filter(({ address }) => keepIps.includes(address));
      change({ ...defined(over), ips: kept.length === ips.length ? ips : kept });
    },
    removeInstance: () => {
      const { uuid, vms, disks } = instance();
      const held = [...vms.map(({ cid }) => `the VM ${cid}`), ...disks.map(({ cid }) => `the disk ${cid}`)];
      if (held.length > 0) throw InstanceHolds({ instance: uuid, what: held.join(", ") });
      now = null;
    },
    addStray: (stray) => {
      also = { ...also, strays: [...also.strays, stray] };
      const { addresses } = stray;
      if (now && addresses.length > 0)
        change({ ips: instance().ips.filter(({ address }) => !addresses.includes(address)) });
    },
    addStemcell: (stemcell) => {
      also = { ...also, addStemcells: [...also.addStemcells, stemcell] };
    },
    removeStemcell: (cid, cpi) => {
      also = { ...also, removeStemcells: [...also.removeStemcells, { cid, cpi }] };
    },
    removeOrphanDisk: (cid) => {
      also = { ...also, removeOrphanDisks: [...also.removeOrphanDisks, cid] };
    },
    removeOrphanedVm: (cid) => {
      also = { ...also, removeOrphanedVms: [...also.removeOrphanedVms, cid] };
    },
    addSnapshot: (snapshot) => {
      also = { ...also, addSnapshots: [...also.addSnapshots, snapshot] };
      const of = now?.disks.find(({ cid }) => cid === snapshot.disk);
      if (of !== undefined && snapshot.clean) replaceDisk(of, { ...of, snapshotTask: snapshot.task });
    },
    removeSnapshot: (cid, cpi) => {
      also = { ...also, removeSnapshots: [...also.removeSnapshots, { cid, cpi }] };
    },
    addSubnet: (subnet) => {
      also = { ...also, addSubnets: [...also.addSubnets, subnet] };
    },
    removeSubnet: (cid, cpi) => {
      also = { ...also, removeSubnets: [...also.removeSubnets, { cid, cpi }] };
    },
  });
  return { instance: now, effects: also };
}

function refuse(what: string): never {
  throw BadWrite({ what });
}

/** Ids count up: what was made later has the larger one. The store gives its own when it is read again. */
const nextId = (all: readonly { readonly id: number }[]): number =>
  Math.max(0, ...all.map(({ id }) => id)) + 1;

const onlyActive = <T extends { readonly cid: string; readonly active: boolean }>(
  all: readonly T[],
  cid: string,
  among: (one: T) => boolean = () => true,
): readonly T[] =>
  all.map((one) =>
    one.active === (one.cid === cid) || !among(one) ? one : { ...one, active: one.cid === cid },
  );

const withoutVm = ({ vms, disks }: InstanceRecord, cid: VmCid): Pick<InstanceRecord, "vms" | "disks"> => ({
  vms: vms.filter((one) => one.cid !== cid),
  disks: disks.map((one) =>
    one.attachedTo === cid ? { ...one, attachedTo: null, hint: null, mounted: false } : one,
  ),
});

const addressesOf = ({ networks }: VmRecord): readonly string[] =>
  Object.values(networks).flatMap(({ ip }) => (ip === undefined ? [] : [ip]));

const defined = <T extends object>(change: T): T =>
  Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined)) as T;
