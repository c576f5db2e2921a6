import type { DiskCid, VmCid } from "@slipway/protocol/ids";
import type { JsonObject } from "@slipway/protocol/schema/json";
import type { Networks } from "@slipway/protocol/settings/networks";
import type { CpiName, GroupName, InstanceUuid } from "./names.ts";
import type { InstanceJobs, InstanceRecord, InstanceState, IpRecord, StemcellRecord } from "./records.ts";

export type ChangeKind =
  | "stemcell"
  | "cloud_properties"
  | "env"
  | "network"
  | "recreate"
  | "job"
  | "packages"
  | "configuration"
  | "persistent_disk"
  | "state"
  | "restart"
  | "dirty"
  | "tags"
  | "missing_vm";

/** Why something is done, in words for an operator. */
export interface Change {
  readonly kind: ChangeKind;
  readonly reason: string;
}

export type Action = "none" | "create" | "recreate" | "update" | "metadata" | "stop" | "detach" | "delete";

export interface WantedDisk {
  readonly size: number;
  readonly cloudProperties: JsonObject;
}

export interface NamedDisk extends WantedDisk {
  readonly name: string;
}

/** Goal of an instance: all that a flow needs, without further lookups. */
export interface DesiredInstance {
  readonly group: GroupName;
  readonly uuid: InstanceUuid;
  readonly index: number;
  readonly az: string | null;
  readonly bootstrap: boolean;
  readonly state: InstanceState;
  /** Its group is an errand. */
  readonly errand?: boolean;
  readonly cpi: CpiName;
  readonly stemcell: StemcellRecord;
  /** AZ's, then VM type's, then extensions' properties. */
  readonly cloudProperties: JsonObject;
  readonly vmResources:
    | { readonly cpu: number; readonly ram: number; readonly ephemeral_disk_size: number }
    | undefined;
  readonly vmType: string | null;
  readonly env: JsonObject;
  readonly tags: JsonObject;
  /** Networks in the form that the CPI gets. */
  readonly networks: Networks;
  readonly ips: readonly IpRecord[];
  readonly persistentDisk: WantedDisk | null;
  /** Disks that are attached and linked by name; what is on them is the jobs' affair. */
  readonly namedDisks?: readonly NamedDisk[] | undefined;
  /** Null: it runs nothing. */
  readonly jobs: InstanceJobs | null;
}

/** The record of one that was not there before. Its id is the store's to give. */
export const newInstance = (desired: DesiredInstance): InstanceRecord => ({
  id: 0,
  uuid: desired.uuid,
  group: desired.group,
  index: desired.index,
  az: desired.az,
  state: desired.state,
  bootstrap: desired.bootstrap,
  ignore: false,
  ...(desired.errand === true && { errand: true }),
  updateCompleted: false,
  spec: null,
  vms: [],
  disks: [],
  ips: desired.ips,
});

/** Goal of one instance, and the part of its present state that steps need. */
export interface InstanceGoal {
  readonly action: Action;
  readonly changes: readonly Change[];
  /** Undefined for an instance that is deleted. */
  readonly desired: DesiredInstance | undefined;
  /** Undefined for a new one. */
  readonly recorded: InstanceRecord | undefined;
  /** Its agent did not answer: nothing is asked of it. */
  readonly unresponsive: boolean;
  readonly skipDrain: boolean;
  /** A new disk may take over from the active one, by copy or because the CPI cannot change it. */
  readonly diskMayBeReplaced: boolean;
  /** Disks to remove on the operator's request; no other disk is removed. */
  readonly disksToGo?: readonly DiskCid[];
  /** VMs that were made for it and would do, but are not waited for again: others are made in their place. */
  readonly vmsToGo?: readonly VmCid[];
  /** Disks of which snapshots are taken once its jobs have stopped. */
  readonly snapshotsOf?: readonly DiskCid[];
  /** Undefined: nothing is made of named disks, and none stays on the VM. */
  readonly named?: NamedDiskGoal | undefined;
}

export interface NamedDiskGoal {
  /** Names that get a new disk. */
  readonly renewed: readonly string[];
  /** Names whose disk the CPI changes; one that cannot leaves them a new disk. */
  readonly changed: readonly string[];
  /** Disks that leave the VM, to come back. Undefined: all, for the VM goes. */
  readonly freed: readonly DiskCid[] | undefined;
}
