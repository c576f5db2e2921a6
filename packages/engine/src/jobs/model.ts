import type { JsonObject } from "@slipway/protocol/schema/json";
import type { PlanProblem } from "../documents/problems.ts";
import type { InstanceGroup, Manifest, ManifestJob } from "../manifest/model.ts";
import type { DesiredInstance } from "../model/goal.ts";
import type { InstanceUuid } from "../model/names.ts";
import type { KnownJob, KnownRelease } from "../releases/model.ts";
import type { DnsIds } from "./dns/ids.ts";
import type { LinkConsumer, PlannedLink, PlannedProvider, SharedProviders } from "./links/model.ts";

/** One job of one instance: all that it is rendered from. */
export interface PlannedJob {
  readonly release: { readonly name: string; readonly version: string };
  readonly job: KnownJob;
  /** Context of the job's templates. `((variables))` in `properties` and `links` are still names. */
  readonly context: JsonObject;
  /** For `.bosh/links.json`: the links it provides, with their DNS groups. */
  readonly provides: readonly { readonly name: string; readonly type: string; readonly group: string }[];
}

export interface JobsInput {
  readonly director: { readonly name: string };
  /** With the jobs of addons in their groups. */
  readonly manifest: Manifest;
  /** Releases by name, each in the version that the manifest means. */
  readonly releases: ReadonlyMap<string, KnownRelease>;
  /** All instances that stay, with their addresses. */
  readonly instances: readonly DesiredInstance[];
  /** Plans the jobs of this instance only; the others are given for their addresses. Absent: all instances. */
  readonly only?: InstanceUuid | undefined;
  /** Absent: instances have no names of the Director's own DNS. */
  readonly dns?: DnsSettings;
  /** Shared providers of the deployments that `consumedDeployments` names; a deployment that does not exist has no entry. */
  readonly sharedProviders?: SharedProviders;
  /** Links that certificates consume, for the names in them. */
  readonly variableConsumers?: readonly LinkConsumer[];
}

/** DNS settings of the Director, and the numbers that short names are made of. */
export interface DnsSettings {
  /** Addresses are names where the deployment wants names. Dynamic networks have names in any case. */
  readonly enabled: boolean;
  /** The root domain: `bosh`. */
  readonly domain: string;
  /** For deployments that do not say `use_dns_addresses`. */
  readonly useDnsAddresses: boolean;
  readonly ids: DnsIds;
}

export type PlannedJobs = JobsPlan | RefusedJobs;

export interface JobsPlan {
  readonly ok: true;
  readonly instances: ReadonlyMap<InstanceUuid, readonly PlannedJob[]>;
  /** Values that the templates of each group's jobs see at any instance. Includes groups without instances. */
  readonly groups: ReadonlyMap<string, readonly JsonObject[]>;
  /** Links of the deployment, for the Director to store. */
  readonly linkProviders: readonly PlannedProvider[];
  readonly linkConsumers: readonly LinkConsumer[];
  readonly links: readonly PlannedLink[];
  /** Warnings: not mistakes, but perhaps not intended. */
  readonly notes: readonly string[];
}

/** `jobsError` makes an error of it. */
export interface RefusedJobs {
  readonly ok: false;
  readonly what: string;
  readonly problems: readonly PlanProblem[];
  /** All of them in upstream's own form, where it has one. */
  readonly report?: string;
}

/** A job in a group, found in its release. */
export interface PlacedJob {
  readonly group: InstanceGroup;
  readonly manifest: ManifestJob;
  readonly release: KnownRelease;
  readonly known: KnownJob;
  /** Properties as the manifest has them, including names that the job does not declare. */
  readonly given: JsonObject;
  /** Properties that the job's templates may see. */
  readonly properties: JsonObject;
}
