import type { JsonObject } from "@slipway/protocol/schema/json";
import type { Networks } from "@slipway/protocol/settings/networks";

/** The CPI: an executable, a package of ours that is run in this process, or jobs of a release. */
export type CpiChoice =
  | {
      readonly kind: "exec";
      readonly path: string;
      readonly configFile: string | undefined;
      /** Set for one that came out of a release. */
      readonly env?: Readonly<Record<string, string>>;
    }
  | { readonly kind: "package"; readonly name: "local" }
  | { readonly kind: "release"; readonly jobs: readonly JobChoice[] };

/** PEM texts. Upstream reads only `ca`; the pair is for a VM that is given none otherwise. */
export interface MbusCert {
  readonly ca?: string;
  readonly certificate?: string;
  readonly private_key?: string;
}

/** The manifest's settings for a registry for old CPIs and stemcells. */
export interface RegistryWish {
  /** An address of this machine that the VM reaches; undefined: the one this machine reaches the VM from. */
  readonly host: string | undefined;
  /** Upstream's way: a tunnel from the VM to here. */
  readonly sshTunnel: boolean;
}

export interface CloudProvider {
  readonly cpi: CpiChoice;
  /** In the context of every call. */
  readonly properties: JsonObject;
  /** `https://user:password@10.0.0.6:6868`; undefined: certificates and passwords are ours. */
  readonly mbus: URL | undefined;
  readonly cert: MbusCert | undefined;
  readonly registry: RegistryWish;
}

/** A job of a release. */
export interface JobChoice {
  readonly name: string;
  readonly release: string;
}

export interface EnvJob extends JobChoice {
  /** Undefined: the group's and the manifest's hold. */
  readonly properties: JsonObject | undefined;
}

export interface ArchiveUrl {
  readonly url: string;
  readonly sha1: string | undefined;
}

/** A manifest of create-env, whole and without open questions. */
export interface EnvManifest {
  readonly name: string;
  readonly group: string;
  readonly stemcell: ArchiveUrl;
  readonly releases: readonly (ArchiveUrl & { readonly name: string })[];
  readonly jobs: readonly EnvJob[];
  /** For jobs without properties of their own: the manifest's, with the group's laid over. */
  readonly properties: JsonObject;
  readonly cloudProperties: JsonObject;
  readonly env: JsonObject;
  readonly tags: JsonObject;
  /** Networks in the form that the CPI takes. */
  readonly networks: Networks;
  readonly persistentDisk: { readonly size: number; readonly cloudProperties: JsonObject } | null;
  readonly watchMs: readonly [low: number, high: number];
  readonly cloudProvider: CloudProvider;
}
