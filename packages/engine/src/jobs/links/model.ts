import type { JsonObject } from "@slipway/protocol/schema/json";

/** A link that a job offers, or that a manifest writes out by hand for one consumer. */
export interface LinkProvider {
  readonly deployment: string;
  readonly group: string;
  /** The job that offers it; of a manual link, the job that consumes it; of a named disk, its group. */
  readonly job: string;
  readonly kind: "job" | "manual" | "disk";
  /** As the release, or a custom definition, names it. */
  readonly originalName: string;
  /** As consumers ask for it: `as` of the manifest, else its original name. */
  readonly name: string;
  readonly type: string;
  /** Other deployments may consume it. */
  readonly shared: boolean;
  /** False: `nil` in the manifest; nobody may. */
  readonly consumable: boolean;
  /** The manifest defines it, not the release. */
  readonly custom: boolean;
  /** What consumers may read. */
  readonly properties: JsonObject;
  /** DNS aliases, as the manifest gives them. */
  readonly aliases: readonly JsonObject[];
}

/** With what its consumers are told. Null: nobody can consume it. */
export interface PlannedProvider extends LinkProvider {
  readonly content: JsonObject | null;
}

/** Of another deployment, as it was last deployed. */
export interface SharedProvider extends LinkProvider {
  readonly content: JsonObject;
}

/** A link that a job needs. */
export interface LinkConsumer {
  /** Empty: a variable consumes it, and `job` is its name. */
  readonly group: string;
  readonly job: string;
  /** As the job's templates name it. */
  readonly originalName: string;
  /** Which provider it wants: the last part of `from`, else its original name. */
  readonly name: string;
  readonly type: string;
  readonly optional: boolean;
  /** The manifest says something of it, so that it is chosen by name rather than by type alone. */
  readonly explicit: boolean;
  /** `nil` in the manifest. */
  readonly blocked: boolean;
  /** Written out by hand. */
  readonly manual: JsonObject | undefined;
  /** Of another deployment, where it says so. */
  readonly deployment: string | undefined;
  readonly network: string | undefined;
  readonly ipAddresses: boolean | undefined;
}

/** A consumer with its provider, and what its templates are told. */
export interface PlannedLink {
  readonly name: string;
  readonly consumer: LinkConsumer;
  readonly provider: LinkProvider;
  readonly content: JsonObject;
}

/** By deployment, what it shares. A deployment that shares nothing is there too. */
export type SharedProviders = ReadonlyMap<string, readonly SharedProvider[]>;

/** All instances behind a provider: the name of its DNS group. */
export const linkGroupName = ({ name, type }: Pick<LinkProvider, "name" | "type">): string =>
  `${name}-${type}`;
