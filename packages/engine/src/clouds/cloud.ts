import { defineErrorClass } from "@slipway/kernel/errors";
import type { ApiVersion } from "@slipway/protocol/cpi/api-version";
import type { Capabilities } from "@slipway/protocol/cpi/capabilities";
import type { CpiErrorName } from "@slipway/protocol/cpi/errors";
import type { ListedResources } from "@slipway/protocol/cpi/methods/list_resources";
import type {
  AgentId,
  DiskCid,
  NetworkCid,
  RequestId,
  SnapshotCid,
  StemcellCid,
  VmCid,
} from "@slipway/protocol/ids";
import type { JsonObject } from "@slipway/protocol/schema/json";
import type { DiskHintWire } from "@slipway/protocol/settings/disk-hint";
import type { Disks } from "@slipway/protocol/settings/disks";
import type { Networks } from "@slipway/protocol/settings/networks";
import type { CallRecorder } from "../call-log/call-log.ts";
import type { CpiName } from "../model/names.ts";

/** How an agent gets its settings: complete with its VM, or from the registry. */
export type Channel = "user-data" | "registry";

/** Data that every CPI call carries beside its arguments. */
export interface CallOptions {
  /** The same for a repeat of the same intent, never for another. */
  readonly requestId: RequestId;
  /** `api_version` of the stemcell the VM runs; undefined: not about a VM. */
  readonly stemcellApiVersion?: number | undefined;
  /** How the agent of the VM got its settings when it was made; undefined: as the versions of today say. */
  readonly channel?: Channel | undefined;
  /** Disks recorded for the VM; sent in `context.vm.disks`, and as an argument to CPIs that announce it. */
  readonly disks?: Disks | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Receives the CPI's stderr and log, for the task's `cpi` output. */
  readonly log?: ((text: string) => void) | undefined;
}

export interface CreateVmArguments {
  readonly agentId: AgentId;
  readonly stemcellCid: StemcellCid;
  readonly cloudProperties: JsonObject;
  readonly networks: Networks;
  readonly diskCids: readonly DiskCid[];
  readonly env: JsonObject;
}

export interface VmCreated {
  readonly cid: VmCid;
  /** Networks as the CPI returned them, or as requested if this version of the API does not return them. */
  readonly networks: Networks;
  readonly disks: Disks;
}

export interface DiskAttached {
  /** Undefined under version 1: the agent reads the registry. */
  readonly hint: DiskHintWire | undefined;
  /** Draft B: all disks of the VM, in place of what was known. */
  readonly disks: Disks | undefined;
}

export interface NetworkCreated {
  readonly cid: NetworkCid;
  readonly range: string | undefined;
  readonly gateway: string | undefined;
  readonly reserved: readonly string[];
  /** Cloud properties for VMs in this network. */
  readonly cloudProperties: JsonObject;
}

/** Data that a CPI reported about itself, and the API version agreed with it. */
export interface CloudInfo {
  readonly apiVersion: ApiVersion;
  readonly stemcellFormats: readonly string[] | undefined;
  readonly capabilities: Capabilities;
  /** A repeat of a create call with the same request id returns the first one's cid. */
  readonly repeatable: boolean;
}

/** One CPI, as the Director calls it. Failures are `CpiRefused` (the CPI answered) or `CpiLost` (the outcome is unknown). */
export interface Cloud {
  readonly name: CpiName;
  /** Returns the same CPI, with each call recorded, without its secrets. */
  recordedBy(recorder: CallRecorder): Cloud;
  info(options?: Pick<CallOptions, "signal" | "log">): Promise<CloudInfo>;
  /** Returns how a VM of this stemcell gets its settings. Starts the Director's registry if the stemcell needs it. */
  channelFor(stemcellApiVersion: number): Promise<Channel>;
  createStemcell(
    imagePath: string,
    cloudProperties: JsonObject,
    tags: JsonObject,
    options: CallOptions,
  ): Promise<StemcellCid>;
  deleteStemcell(cid: StemcellCid, options: CallOptions): Promise<void>;
  createVm(args: CreateVmArguments, options: CallOptions): Promise<VmCreated>;
  deleteVm(cid: VmCid, options: CallOptions): Promise<void>;
  hasVm(cid: VmCid, options: CallOptions): Promise<boolean>;
  /** The end of what the VM has logged. Undefined: the CPI cannot say. */
  vmLog(cid: VmCid, options: CallOptions): Promise<string | undefined>;
  /** Every VM and disk of this Director. Undefined: the CPI cannot say. */
  listResources(options: CallOptions): Promise<ListedResources | undefined>;
  rebootVm(cid: VmCid, options: CallOptions): Promise<void>;
  setVmMetadata(cid: VmCid, metadata: JsonObject, options: CallOptions): Promise<void>;
  calculateVmCloudProperties(requirements: JsonObject, options: CallOptions): Promise<JsonObject>;
  createDisk(
    sizeMib: number,
    cloudProperties: JsonObject,
    vmCid: VmCid | null,
    options: CallOptions,
  ): Promise<DiskCid>;
  deleteDisk(cid: DiskCid, options: CallOptions): Promise<void>;
  hasDisk(cid: DiskCid, options: CallOptions): Promise<boolean>;
  attachDisk(vm: VmCid, disk: DiskCid, options: CallOptions): Promise<DiskAttached>;
  /** Draft B: all disks that are left. Undefined: the CPI does not say. */
  detachDisk(vm: VmCid, disk: DiskCid, options: CallOptions): Promise<Disks | undefined>;
  setDiskMetadata(cid: DiskCid, metadata: JsonObject, options: CallOptions): Promise<void>;
  resizeDisk(cid: DiskCid, sizeMib: number, options: CallOptions): Promise<void>;
  /** The cid of the disk afterwards: usually the same. */
  updateDisk(
    cid: DiskCid,
    sizeMib: number,
    cloudProperties: JsonObject,
    options: CallOptions,
  ): Promise<DiskCid>;
  snapshotDisk(cid: DiskCid, metadata: JsonObject, options: CallOptions): Promise<SnapshotCid>;
  deleteSnapshot(cid: SnapshotCid, options: CallOptions): Promise<void>;
  /** `definition`: type, range, gateway, netmask_bits and cloud_properties, as on the wire. */
  createNetwork(definition: JsonObject, options: CallOptions): Promise<NetworkCreated>;
  deleteNetwork(cid: NetworkCid, options: CallOptions): Promise<void>;
}

/** The CPIs of this Director by name, as one task sees them from its beginning to its end. */
export interface Clouds {
  /** Returns the CPI with a current name, or with one in the records. */
  cloud(name: CpiName): Cloud;
  /** Names of the CPIs that stemcells are uploaded to. */
  readonly names: readonly CpiName[];
  /** True if the CPIs are from a CPI config, so that zones must name theirs. */
  readonly configured: boolean;
  /** The name of today of what is recorded under a name: the CPI that says `migrated_from` it, or the same name. */
  nameOf(recorded: CpiName): CpiName;
}

/** The CPI answered with an error: nothing of the call was done, or what its type says. */
export class CpiRefused extends defineErrorClass({
  code: "DIC-013",
  about: "CPI error '{type}' with message '{message}' in '{method}' CPI method (CPI request ID: '{request}')",
  kind: "outside",
  next: "Correct what the CPI names, and do it again. `bosh task --cpi` shows the calls.",
}) {
  override readonly name = "CpiRefused";
  readonly method: string;
  readonly type: string;
  /** Undefined for error types outside the CPI contract. */
  readonly errorName: CpiErrorName | undefined;
  readonly okToRetry: boolean;

  constructor(given: {
    readonly method: string;
    readonly type: string;
    readonly errorName: CpiErrorName | undefined;
    readonly message: string;
    readonly okToRetry: boolean;
  }) {
    super(given.message);
    this.method = given.method;
    this.type = given.type;
    this.errorName = given.errorName;
    this.okToRetry = given.okToRetry;
  }
}

export const refusedAs = (error: unknown, ...names: readonly CpiErrorName[]): boolean =>
  error instanceof CpiRefused && error.errorName !== undefined && names.includes(error.errorName);

/** The CPI did not answer, or with something that is no answer: whether it did the work is not known. */
export class CpiLost extends defineErrorClass({
  code: "DIC-014",
  about: "Invalid CPI response - {why} in '{method}' CPI method (CPI request ID: '{request}')",
  kind: "outside",
  next: "See in `bosh task --cpi` how the CPI ended, and do it again: what the call has made is found by its request id.",
}) {
  override readonly name = "CpiLost";
  readonly method: string;
  /** Something outside ended it before it had answered, such as `signal SIGKILL`: asked again, it may well answer. */
  readonly killedBy: string | undefined;

  constructor(
    method: string,
    message: string,
    options?: { readonly cause?: unknown; readonly killedBy?: string | undefined },
  ) {
    super(message, options);
    this.method = method;
    this.killedBy = options?.killedBy;
  }
}
