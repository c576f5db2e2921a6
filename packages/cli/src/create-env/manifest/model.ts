import type { JsonObject } from "@slipway/protocol/schema/json";
import type { Networks } from "@slipway/protocol/settings/networks";

/** The CPI: an executable, or a package of ours that is run in this process. */
export type CpiChoice =
  | { readonly kind: "exec"; readonly path: string; readonly configFile: string | undefined }
  | { readonly kind: "package"; readonly name: "local" };

/** PEM texts. Upstream reads only `ca`; the pair is for a VM that is given none otherwise. */
export interface MbusCert {
  readonly ca?: string;
  readonly certificate?: string;
  readonly private_key?: string;
}

export interface CloudProvider {
  readonly cpi: CpiChoice;
  /** In the context of every call. */
  readonly properties: JsonObject;
  /** `https://user:password@10.0.0.6:6868`; undefined: certificates and passwords are ours. */
  readonly mbus: URL | undefined;
  readonly cert: MbusCert | undefined;
}

/** A manifest of create-env, whole and without open questions. */
export interface EnvManifest {
  readonly name: string;
  readonly group: string;
  readonly stemcell: { readonly url: string; readonly sha1: string | undefined };
  readonly cloudProperties: JsonObject;
  readonly env: JsonObject;
  readonly tags: JsonObject;
  /** As they go to the CPI. */
  readonly networks: Networks;
  readonly persistentDisk: { readonly size: number; readonly cloudProperties: JsonObject } | null;
  readonly watchMs: readonly [low: number, high: number];
  readonly cloudProvider: CloudProvider;
}
