import type { ApiVersion } from "@slipway/protocol/cpi/api-version";
import type { AgentId, DiskCid, NetworkCid, StemcellCid, VmCid } from "@slipway/protocol/ids";
import type { JsonObject } from "@slipway/protocol/schema/json";
import type { DiskHintWire } from "@slipway/protocol/settings/disk-hint";
import type { Disks } from "@slipway/protocol/settings/disks";
import type { Networks } from "@slipway/protocol/settings/networks";
import type { CpiName, GroupName, InstanceUuid } from "./names.ts";

/** Records of the Director. Times are milliseconds since 1970. */

export type InstanceState = "started" | "stopped" | "detached";

export interface StemcellRecord {
  readonly id: number;
  readonly name: string;
  readonly version: string;
  readonly operatingSystem: string;
  readonly cid: StemcellCid;
  readonly cpi: CpiName;
  readonly apiVersion: number;
}

/** A network that a CPI has made, under the name of the cloud config; deployments share it. */
export interface NetworkRecord {
  readonly name: string;
  /** All subnets were made that it was to have at first. False: what it has may go again. */
  readonly ready: boolean;
  readonly subnets: readonly SubnetRecord[];
}

export interface SubnetRecord {
  readonly network: string;
  readonly name: string;
  readonly cid: NetworkCid;
  readonly cpi: CpiName;
  /** Range from the cloud config, else as the CPI chose; empty if neither named one. */
  readonly range: string;
  readonly gateway: string | null;
  /** Addresses and ranges that the cloud keeps for itself. */
  readonly reserved: readonly string[];
  /** Cloud properties for VMs in this subnet. */
  readonly cloudProperties: JsonObject;
}

/** A package as agents install it. */
export interface InstalledPackage {
  readonly name: string;
  /** `<fingerprint>.<build>`. */
  readonly version: string;
  readonly digest: string;
  readonly blobId: string;
}

/** Jobs and packages of an instance. */
export interface InstanceJobs {
  /** In the order of the manifest. */
  readonly jobs: readonly { readonly name: string; readonly version: string; readonly logs: JsonObject }[];
  readonly packages: readonly InstalledPackage[];
  /** Changes exactly when a rendered file does. */
  readonly configurationHash: string;
  /** Hash of all files of a job, by job. */
  readonly templateHashes: Readonly<Record<string, string>>;
  /** Hash of each file, by job and path, to say which one changed. */
  readonly files: Readonly<Record<string, string>>;
  /** Keyed hash of all that the templates could see when these hashes were made. Absent: not known. */
  readonly inputs?: string | undefined;
}

/** The last spec an instance was brought to: what changes are found against. */
export interface AppliedSpec {
  /** Networks as sent to CPI and agent, by name. */
  readonly networks: Networks;
  readonly persistentDisk: { readonly size: number; readonly cloudProperties: JsonObject } | null;
  readonly tags: JsonObject;
  /** Hash of the jobs' configuration; a constant without jobs. */
  readonly configurationHash: string;
  readonly vmType: string | null;
  readonly vmResources?: JsonObject | null;
  /** Absent: it ran none. */
  readonly jobs?: InstanceJobs | null;
}

export interface IpRecord {
  /** `10.0.0.5`, or a prefix: `10.0.0.16/28`. Unique in the whole Director. */
  readonly address: string;
  readonly network: string;
  readonly static: boolean;
}

/** Returns the address that the VM knows: the first address of a prefix. */
export const firstAddress = ({ address }: Pick<IpRecord, "address">): string => address.replace(/\/\d+$/, "");

export interface VmRecord {
  readonly id: number;
  readonly cid: VmCid;
  readonly agentId: AgentId;
  /** At most one per instance. A second VM is the one a create-swap-delete brings up. */
  readonly active: boolean;
  readonly cpi: CpiName;
  readonly createdAt: number;
  readonly stemcell: { readonly name: string; readonly version: string; readonly apiVersion: number };
  /** The negotiated CPI API version. */
  readonly apiVersion: ApiVersion;
  /** How the agent got its settings. */
  readonly channel: "user-data" | "registry";
  /** The group's env as in the manifest, to find changes; variables by their pins. */
  readonly env: JsonObject;
  readonly cloudProperties: JsonObject;
  /** Networks of the VM: as sent, completed by the CPI's result and the agent's report. */
  readonly networks: Networks;
  /** `{system, ephemeral, persistent: {cid: hint}}`, whatever dialect the CPI speaks. */
  readonly disks: Disks;
  /** URL of the agent: `https://10.0.0.2:6868`. */
  readonly agentUrl: string;
  /** When the agent's certificate ends. */
  readonly certificateUntil: number | null;
  /** Over NATS: the mark of whom its agent believes and who has signed for it, as it has confirmed. */
  readonly natsTrust?: string | undefined;
  /** The agent was given its settings and the first apply. */
  readonly ready: boolean;
  /** Mark of the Director's agent env that the VM was made with. Absent: not recorded. */
  readonly agentEnv?: string | undefined;
}

export interface DiskRecord {
  readonly id: number;
  readonly cid: DiskCid;
  /** Absent: the disk whose file system the agent looks after. Named ones are attached and linked by name, no more. */
  readonly name?: string | undefined;
  readonly size: number;
  readonly cloudProperties: JsonObject;
  readonly cpi: CpiName;
  /**
   * The disk that holds the data, one for each name. An inactive one is new and not yet copied to, or old and not yet
   * orphaned.
   */
  readonly active: boolean;
  /** The VM it is attached to, as far as we know. */
  readonly attachedTo: VmCid | null;
  readonly hint: DiskHintWire | null;
  /** True if the agent has mounted the disk, or linked it if it is a named one. */
  readonly mounted: boolean;
  /** Undefined: not recorded. */
  readonly createdAt?: number | undefined;
  /** Task that last took a snapshot of the disk while nothing wrote to it, or found that the CPI takes no snapshots. */
  readonly snapshotTask?: number | undefined;
}

export interface InstanceRecord {
  readonly id: number;
  readonly uuid: InstanceUuid;
  readonly group: GroupName;
  readonly index: number;
  readonly az: string | null;
  /** Desired. */
  readonly state: InstanceState;
  readonly bootstrap: boolean;
  readonly ignore: boolean;
  /** True for an instance that compiles packages, and is deleted afterwards. */
  readonly compilation?: boolean;
  /** Its group is an errand: it has a VM only while the errand runs, or when that was kept. */
  readonly errand?: boolean;
  /** False from the first change of an update to its end. */
  readonly updateCompleted: boolean;
  /** Null until the first update has ended. */
  readonly spec: AppliedSpec | null;
  readonly vms: readonly VmRecord[];
  readonly disks: readonly DiskRecord[];
  readonly ips: readonly IpRecord[];
}

export const activeVm = (instance: InstanceRecord): VmRecord | undefined =>
  instance.vms.find((vm) => vm.active);
/** False for an instance that is complete without a VM: one stopped with `--hard`, and one of an errand. */
export const expectsVm = ({ errand, state }: Pick<InstanceRecord, "errand" | "state">): boolean =>
  errand !== true && state !== "detached";
/** The active one of a name; without a name the one that is mounted. */
export const activeDisk = (instance: Pick<InstanceRecord, "disks">, name?: string): DiskRecord | undefined =>
  instance.disks.find((disk) => disk.active && disk.name === name);
/** Returns the disks that hold data, with any name or none. */
export const activeDisks = (instance: Pick<InstanceRecord, "disks">): readonly DiskRecord[] =>
  instance.disks.filter(({ active }) => active);
export const namedDisks = (instance: Pick<InstanceRecord, "disks">): readonly DiskRecord[] =>
  instance.disks.filter(({ name }) => name !== undefined);
