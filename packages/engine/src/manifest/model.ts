import type { JsonObject } from "@slipway/protocol/schema/json";
import type { GroupName } from "../model/names.ts";
import type { Addon } from "./addons.ts";

/** A deployment manifest v2, checked, with every default in its place. */
export interface Manifest {
  readonly name: string;
  readonly stemcells: readonly ManifestStemcell[];
  readonly releases: readonly ManifestRelease[];
  readonly update: UpdatePolicy;
  readonly groups: readonly InstanceGroup[];
  readonly tags: JsonObject;
  /** For jobs without their own; deprecated. */
  readonly properties: JsonObject;
  readonly features: Features;
  /** Empty once they were applied: then their jobs are in the groups. */
  readonly addons: readonly Addon[];
}

export interface ManifestRelease {
  readonly name: string;
  /** May be `latest` or `1.latest`. */
  readonly version: string;
  /** Version that a runtime config wants, if the manifest names none. */
  readonly runtimeVersion?: string;
  /** Its packages are used as they were compiled for one of these stemcells, and never compiled. Absent or empty: any way. */
  readonly exportedFrom?: readonly ExportedFrom[];
}

/** A stemcell that a compiled release was made for. */
export interface ExportedFrom {
  readonly os: string;
  readonly version: string;
}

export interface Features {
  readonly randomizeAzPlacement: boolean;
  /** Undefined: as the Director's settings have it. */
  readonly useDnsAddresses?: boolean | undefined;
  readonly useShortDnsAddresses?: boolean | undefined;
  readonly useLinkDnsNames?: boolean | undefined;
  /** True if jobs and settings are kept in memory; the groups' env has it, too. */
  readonly useTmpfsConfig?: boolean | undefined;
}

export interface ManifestStemcell {
  readonly alias: string;
  readonly os: string | undefined;
  readonly name: string | undefined;
  /** May be `latest` or `1.latest` until it is resolved. */
  readonly version: string;
}

/** A count, or a share of the batch in percent. */
export type Amount = { readonly count: number } | { readonly percent: number };

export interface UpdatePolicy {
  readonly canaries: Amount;
  readonly maxInFlight: Amount;
  readonly canaryWatchMs: readonly [low: number, high: number];
  readonly updateWatchMs: readonly [low: number, high: number];
  readonly serial: boolean;
  readonly vmStrategy: "delete-create" | "create-swap-delete";
  readonly initialDeployAzStrategy: "serial" | "parallel";
}

export interface InstanceGroup {
  readonly name: GroupName;
  readonly instances: number;
  readonly azs: readonly string[] | undefined;
  readonly lifecycle: "service" | "errand";
  readonly vmType: string | undefined;
  readonly vmResources:
    | { readonly cpu: number; readonly ram: number; readonly ephemeral_disk_size: number }
    | undefined;
  readonly vmExtensions: readonly string[];
  /** An alias of `stemcells`. */
  readonly stemcell: string;
  /** Name of a disk type, or a plain size (0: no disk). */
  readonly persistentDisk: { readonly size: number } | { readonly type: string } | undefined;
  /** Attached and linked by name. An instance has these or the one above. */
  readonly persistentDisks?: readonly { readonly name: string; readonly type: string }[] | undefined;
  readonly networks: readonly GroupNetwork[];
  /** Deployment's policy with the group's own laid over. */
  readonly update: UpdatePolicy;
  readonly migratedFrom: readonly { readonly name: string; readonly az: string | undefined }[];
  readonly env: JsonObject;
  readonly tags: JsonObject;
  readonly jobs: readonly ManifestJob[];
  /** For jobs that have none of their own; deprecated. */
  readonly properties: JsonObject;
}

export interface ManifestJob {
  readonly name: string;
  readonly release: string;
  /** Undefined: those of the group and of the deployment hold. */
  readonly properties: JsonObject | undefined;
  /** Links by their name in the job's release. */
  readonly consumes: JsonObject;
  readonly provides: JsonObject;
  readonly customProviders: readonly JsonObject[];
}

export interface GroupNetwork {
  readonly name: string;
  /** Single addresses, ranges already spelled out. */
  readonly staticIps: readonly string[];
  /** Subset of `dns`, `gateway`, `addressable`; sorted, defaults in place. */
  readonly default: readonly string[];
  /** Networks of one VM with the same group share an interface. */
  readonly nicGroup?: string | undefined;
}

/** All active cloud configs of a deployment, merged and checked. */
export interface CloudConfig {
  readonly azs: readonly {
    readonly name: string;
    readonly cpi: string | undefined;
    readonly cloudProperties: JsonObject;
  }[];
  readonly vmTypes: readonly { readonly name: string; readonly cloudProperties: JsonObject }[];
  readonly vmExtensions: readonly { readonly name: string; readonly cloudProperties: JsonObject }[];
  readonly diskTypes: readonly {
    readonly name: string;
    readonly size: number;
    readonly cloudProperties: JsonObject;
  }[];
  readonly networks: readonly CloudNetwork[];
  readonly compilation: JsonObject | undefined;
}

export type CloudNetwork = ManualNetwork | DynamicNetwork | VipNetwork;

export interface ManualNetwork {
  readonly type: "manual";
  readonly name: string;
  /** True if the Director has the CPI make the network, and delete it when no deployment uses it. */
  readonly managed?: true | undefined;
  readonly subnets: readonly ManualSubnet[];
}

export interface ManualSubnet {
  /** CIDR, as written. Empty: of a managed network, and known once the CPI has made it. */
  readonly range: string;
  /** Name of the subnet, for managed networks. */
  readonly name?: string | undefined;
  /** Length of the prefix that each instance gets from the range; undefined: a single address. */
  readonly prefix?: number | undefined;
  /** How large the range is to be that the CPI chooses. */
  readonly netmaskBits?: number | undefined;
  readonly gateway: string | undefined;
  readonly dns: readonly string[];
  readonly azs: readonly string[] | undefined;
  readonly reserved: readonly IpRange[];
  readonly static: readonly IpRange[];
  readonly cloudProperties: JsonObject;
}

/** First and last address of one family, as numbers of `ip.ts`. */
export interface IpRange {
  readonly first: bigint;
  readonly last: bigint;
}

export interface DynamicNetwork {
  readonly type: "dynamic";
  readonly name: string;
  /** One without azs when the network has no subnets. */
  readonly subnets: readonly {
    readonly azs: readonly string[] | undefined;
    readonly dns: readonly string[];
    readonly cloudProperties: JsonObject;
  }[];
}

export interface VipNetwork {
  readonly type: "vip";
  readonly name: string;
  readonly cloudProperties: JsonObject;
  readonly subnets: readonly {
    readonly azs: readonly string[] | undefined;
    readonly static: readonly IpRange[];
  }[];
}
