import type { DiskCid } from "@slipway/protocol/ids";
import type { JsonObject } from "@slipway/protocol/schema/json";
import type { Networks } from "@slipway/protocol/settings/networks";
import type { CloudConfig, Manifest, UpdatePolicy } from "../manifest/model.ts";
import type { PlanProblem } from "../manifest/problems.ts";
import type { CpiName, GroupName, InstanceUuid } from "../model/names.ts";
import type { InstanceRecord, InstanceState, IpRecord, StemcellRecord } from "../model/records.ts";

/** Everything a plan is made of. Planning asks nobody else: the same input gives the same plan. */
export interface PlanInput {
  readonly manifest: Manifest;
  readonly cloudConfig: CloudConfig;
  /** Instances of this deployment, as recorded. */
  readonly instances: readonly InstanceRecord[];
  /** What their agents say; absent for instances without a VM. */
  readonly agents: ReadonlyMap<InstanceUuid, AgentReport>;
  /** Addresses of other deployments, of orphaned VMs and of the Director itself. */
  readonly takenIps: ReadonlyMap<string, string>;
  /** All uploaded stemcells. */
  readonly stemcells: readonly StemcellRecord[];
  readonly options: PlanOptions;
  /** New ids in the order they are asked for. */
  readonly newUuid: () => InstanceUuid;
  /** 0 up to 1; asked only with `randomize_az_placement`. */
  readonly fraction: () => number;
  readonly director: {
    readonly name: string;
    readonly enableCpiResizeDisk: boolean;
    readonly enableCpiUpdateDisk: boolean;
  };
  /** No manifest was ever deployed. */
  readonly firstDeploy: boolean;
}

export type AgentReport =
  | { readonly responsive: true; readonly jobState: string; readonly networks: Networks }
  | { readonly responsive: false; readonly why: string };

export interface PlanOptions {
  readonly recreate: boolean;
  readonly recreatePersistentDisks: boolean;
  /** Only VMs older than this are recreated, ms since 1970. */
  readonly recreateVmsCreatedBefore: number | undefined;
  readonly fix: boolean;
  readonly canaries: UpdatePolicy["canaries"] | undefined;
  readonly maxInFlight: UpdatePolicy["maxInFlight"] | undefined;
  readonly skipDrain: readonly string[];
  /** From `PUT .../jobs`: desired state of a group, or of one instance (`group` + uuid or index). */
  readonly state: StateChange | undefined;
}

export interface StateChange {
  readonly group: string | undefined;
  readonly instance: string | undefined;
  readonly to: "started" | "stopped" | "detached" | "restart" | "recreate";
}

export type ChangeKind =
  | "stemcell"
  | "cloud_properties"
  | "env"
  | "network"
  | "recreate"
  | "job"
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

/** One file of `flows/steps` each; the order here is the order a flow may have them in. */
export type StepName =
  | "stop"
  | "unmount_disk"
  | "detach_disk"
  | "resize_disk"
  | "update_disk"
  | "reboot_vm"
  | "delete_vm"
  | "delete_unused_vm"
  | "orphan_vm"
  | "create_vm"
  | "wait_for_agent"
  | "activate_vm"
  | "attach_disk"
  | "mount_disk"
  | "prepare_agent"
  | "create_disk"
  | "attach_new_disk"
  | "mount_new_disk"
  | "migrate_disk"
  | "switch_disk"
  | "unmount_old_disk"
  | "detach_old_disk"
  | "orphan_disk"
  | "set_vm_metadata"
  | "apply"
  | "start"
  | "save_instance"
  | "delete_instance";

export interface PlannedStep {
  readonly name: StepName;
  readonly reason: string;
}

export type Action = "none" | "create" | "recreate" | "update" | "metadata" | "stop" | "detach" | "delete";

/** What an instance is to become: all a flow needs, nothing to look up. */
export interface DesiredInstance {
  readonly group: GroupName;
  readonly uuid: InstanceUuid;
  readonly index: number;
  readonly az: string | null;
  readonly bootstrap: boolean;
  readonly state: InstanceState;
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
  /** As they go to the CPI. */
  readonly networks: Networks;
  readonly ips: readonly IpRecord[];
  readonly persistentDisk: { readonly size: number; readonly cloudProperties: JsonObject } | null;
}

export interface InstancePlan {
  readonly action: Action;
  readonly changes: readonly Change[];
  readonly steps: readonly PlannedStep[];
  /** Undefined for an instance that is deleted. */
  readonly desired: DesiredInstance | undefined;
  /** Undefined for a new one. */
  readonly recorded: InstanceRecord | undefined;
  /** Its agent did not answer: nothing is asked of it. */
  readonly unresponsive: boolean;
  readonly skipDrain: boolean;
  /** By hand: these disks are to go, and no other. */
  readonly disksToGo?: readonly DiskCid[];
  /** Whether the instance is down meanwhile, and for what. */
  readonly downtime: string | undefined;
}

/** Instances that are changed together, at most `maxInFlight` at once. */
export interface Batch {
  readonly canary: boolean;
  readonly maxInFlight: number;
  readonly watchMs: readonly [low: number, high: number];
  readonly instances: readonly InstancePlan[];
}

export interface GroupPlan {
  readonly group: GroupName;
  /** Surplus instances, deleted first. */
  readonly surplus: readonly InstancePlan[];
  /** One after the other. */
  readonly batches: readonly Batch[];
  readonly maxInFlight: number;
}

export interface Plan {
  /** Instances of groups the manifest no longer has. */
  readonly obsolete: readonly InstancePlan[];
  /** VMs made before any group is touched (new instances, and the second VMs of create-swap-delete). */
  readonly missingVms: readonly InstancePlan[];
  /** Lists of groups: one list after the other, the groups of a list at the same time. */
  readonly groups: readonly (readonly GroupPlan[])[];
  /** All instances that stay, changed or not; also what `instances` is to show. */
  readonly desired: readonly DesiredInstance[];
  /** Which uploaded stemcells the deployment uses. */
  readonly stemcells: readonly StemcellRecord[];
  readonly notes: readonly string[];
}

export type Planned =
  | { readonly ok: true; readonly plan: Plan }
  | { readonly ok: false; readonly problems: readonly PlanProblem[] };
