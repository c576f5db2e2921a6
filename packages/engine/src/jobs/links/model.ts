import type { JsonObject } from "@slipway/protocol/schema/json";

/** A link that a job offers, or that a manifest writes out by hand for one consumer. */
export interface LinkProvider {
  readonly deployment: string;
  readonly group: string;
  /** The job that offers it; of a manual link, the job that consumes it; of a named disk, its group. */
  readonly job: string;
  readonly kind: "job" | "manual" | "disk";
  /** Name in the release, or in a custom definition. */
  readonly originalName: string;
  /** Name that consumers ask for: `as` of the manifest, else the original name. */
  readonly name: string;
  readonly type: string;
  /** Other deployments may consume it. */
  readonly shared: boolean;
  /** False if the provider is `nil` in the manifest, so that no job may consume it. */
  readonly consumable: boolean;
  /** The manifest defines it, not the release. */
  readonly custom: boolean;
  /** Properties that consumers may read. */
  readonly properties: JsonObject;
  /** DNS aliases, as the manifest gives them. */
  readonly aliases: readonly JsonObject[];
}

/** A provider with the content for its consumers. Null: no job can consume it. */
export interface PlannedProvider extends LinkProvider {
  readonly content: JsonObject | null;
}

/** A provider of another deployment, as last deployed. */
export interface SharedProvider extends LinkProvider {
  readonly content: JsonObject;
}

/** A link that a job needs. */
export interface LinkConsumer {
  /** Empty: a variable consumes it, and `job` is its name. */
  readonly group: string;
  readonly job: string;
  /** Name in the job's templates. */
  readonly originalName: string;
  /** Name of the wanted provider: the last part of `from`, else the original name. */
  readonly name: string;
  readonly type: string;
  readonly optional: boolean;
  /** The manifest says something of it, so that it is chosen by name rather than by type alone. */
  readonly explicit: boolean;
  /** `nil` in the manifest. */
  readonly blocked: boolean;
  /** Written out by hand. */
  readonly manual: JsonObject | undefined;
  /** Deployment of the provider, if the manifest names another one. */
  readonly deployment: string | undefined;
  readonly network: string | undefined;
  readonly ipAddresses: boolean | undefined;
}

/** A consumer with its provider, and the content for its templates. */
export interface PlannedLink {
  readonly name: string;
  readonly consumer: LinkConsumer;
  readonly provider: LinkProvider;
  readonly content: JsonObject;
}

/** Shared providers by deployment. A deployment that shares nothing has an entry too. */
export type SharedProviders = ReadonlyMap<string, readonly SharedProvider[]>;

/** All instances behind a provider: the name of its DNS group. */
export const linkGroupName = ({ name, type }: Pick<LinkProvider, "name" | "type">): string =>
  `${name}-${type}`;
