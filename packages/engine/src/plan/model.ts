import type { JsonObject } from "@slipway/protocol/schema/json";
import type { Networks } from "@slipway/protocol/settings/networks";
import type { PlanProblem } from "../documents/problems.ts";
import type { CloudConfig, Manifest, UpdatePolicy } from "../manifest/model.ts";
import type { DesiredInstance, InstanceGoal } from "../model/goal.ts";
import type { CpiName, GroupName, InstanceUuid } from "../model/names.ts";
import type { InstanceJobs, InstanceRecord, StemcellRecord } from "../model/records.ts";
import type { StepName } from "../steps/steps.ts";

/** All input of a plan. Planning makes no calls: the same input gives the same plan. */
export interface PlanInput {
  readonly manifest: Manifest;
  readonly cloudConfig: CloudConfig;
  /** Instances of this deployment, as recorded. */
  readonly instances: readonly InstanceRecord[];
  /** Reports of the agents; absent for instances without a VM. */
  readonly agents: ReadonlyMap<InstanceUuid, AgentReport>;
  /** Addresses of other deployments, of orphaned VMs and of the Director itself. */
  readonly takenIps: ReadonlyMap<string, string>;
  /** The CPI config. Undefined: without one, the Director's own CPI does everything. */
  readonly cpis?: PlanCpis | undefined;
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
    /** Snapshots of disks are taken before their instances are changed. Undefined: they are not. */
    readonly enableSnapshots?: boolean | undefined;
    /** Env of all agents; a VM whose agent was never ready is recreated when it changes. Undefined: not known. */
    readonly agentEnv?: JsonObject | undefined;
  };
  /** Errand groups that are about to run: they get VMs as services do. Absent: none. */
  readonly runningErrands?: ReadonlySet<string> | undefined;
  /** No manifest was ever deployed. */
  readonly firstDeploy: boolean;
}

export type JobsByInstance = ReadonlyMap<InstanceUuid, InstanceJobs>;

export interface PlanCpis {
  readonly names: readonly CpiName[];
  /** The name of today of one that had another before. */
  nameOf(name: CpiName): CpiName;
}

export type AgentReport =
  | { readonly responsive: true; readonly jobState: string; readonly networks: Networks }
  | { readonly responsive: false; readonly why: string };

export interface PlanOptions {
  readonly recreate: boolean;
  /** Disks older than this are replaced, ms since 1970; undefined: no disk is. */
  readonly recreateDisksCreatedBefore: number | undefined;
  /** Only VMs older than this are recreated, ms since 1970. */
  readonly recreateVmsCreatedBefore: number | undefined;
  readonly fix: boolean;
  /** When it was asked for, ms since 1970: what was made since is of this very task. Undefined: nothing is. */
  readonly askedAt?: number | undefined;
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

/** When a step is taken that depends on what happens on the way. */
export type StepCondition =
  /** The CPI was asked to resize or update the disk, and could not. */
  | "cpi_cannot_change_disk"
  /** The same of a named disk. */
  | "cpi_cannot_change_named_disk"
  /** A VM was made, and its agent does not answer or refuses. */
  | "new_agent_unusable";

export interface PlannedStep {
  readonly name: StepName;
  readonly reason: string;
  readonly condition?: StepCondition;
}

export interface InstancePlan extends InstanceGoal {
  readonly steps: readonly PlannedStep[];
  /** Reason for a downtime of the instance; undefined: no downtime. */
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
  /** Errand groups without a VM: their instances are recorded, and nothing else is done about them. */
  readonly idleErrands: ReadonlySet<string>;
  /** Uploaded stemcells that the deployment uses. */
  readonly stemcells: readonly StemcellRecord[];
  readonly notes: readonly string[];
}

export type Planned =
  | { readonly ok: true; readonly plan: Plan }
  | { readonly ok: false; readonly problems: readonly PlanProblem[] };
