import { type ApiVersion, knownVersion, NEWEST_API_VERSION } from "./cpi/api-version.ts";
import { kindOf } from "./schema/check.ts";
import { isObject } from "./schema/json.ts";

export type NegotiationPart = "director" | "cpi" | "stemcell";

/** A caller of CPIs: the versions it speaks, and whether there is a registry beside it. */
export interface CallerVersions {
  readonly min?: unknown;
  readonly max?: unknown;
  readonly registry?: boolean;
}

export interface Mix {
  /** The caller's highest version, or what it is in full. Missing means 1. */
  readonly director?: unknown;
  /** `info.api_version`. Missing means 1. */
  readonly cpi?: unknown;
  /** `api_version` of stemcell.MF. Missing means 1. */
  readonly stemcell?: unknown;
}

export type RegistryWriter = "create_vm" | "attach_disk" | "detach_disk" | "delete_vm";

/** Consequences of a mix of versions for Director, CPI, agent and registry, decided once. */
export interface Agreement {
  readonly outcome: "agreed";
  readonly director: ApiVersion;
  readonly cpi: ApiVersion;
  readonly stemcell: ApiVersion;
  /** Sent as `api_version` with every call but `info`. */
  readonly apiVersion: ApiVersion;
  readonly registryless: boolean;
  readonly createVmResult: "cid" | "[cid, networks]";
  readonly attachDiskReturnsHint: boolean;
  readonly createStemcellTakesTags: boolean;
  /** `settings`: complete. `registry`: only the way to the registry. */
  readonly userData: "settings" | "registry";
  readonly registryWrites: readonly RegistryWriter[];
  /** One sentence, for people. */
  readonly reason: string;
  /** Versions that were not taken as given, and why. */
  readonly notes: readonly string[];
}

export interface VersionRefusal {
  readonly outcome: "refused";
  readonly problems: readonly string[];
}

export type Negotiation = Agreement | VersionRefusal;

const REGISTRY_WRITERS: readonly RegistryWriter[] = ["create_vm", "attach_disk", "detach_disk", "delete_vm"];

/**
 * Decides how Director, CPI and stemcell work together. The effective version is the smaller of what Director and CPI
 * speak; it decides the shapes. Registry-less needs that version and the stemcell's to be 2 or more.
 */
export function negotiate(mix: Mix): Negotiation {
  const notes: string[] = [];
  const problems: string[] = [];
  const version = (part: string, given: unknown) => readVersion(part, given, notes, problems);

  const caller: CallerVersions = isCaller(mix.director) ? mix.director : { max: mix.director };
  const director = version("director", caller.max);
  const floor = version("director minimum", caller.min);
  const cpi = version("cpi", mix.cpi);
  const stemcell = version("stemcell", mix.stemcell);
  if (problems.length > 0) return { outcome: "refused", problems };

  const apiVersion = director < cpi ? director : cpi;
  if (apiVersion < floor) {
    return {
      outcome: "refused",
      problems: [`CPI API version ${apiVersion} is not supported. Minimum required version is ${floor}.`],
    };
  }
  const registryless = apiVersion >= 2 && stemcell >= 2;
  if (!registryless && caller.registry === false) {
    return {
      outcome: "refused",
      problems: [`this mix needs a registry and the caller has none: ${why(apiVersion, stemcell)}`],
    };
  }
  const hint = apiVersion >= 2;
  return {
    outcome: "agreed",
    director,
    cpi,
    stemcell,
    apiVersion,
    registryless,
    createVmResult: hint ? "[cid, networks]" : "cid",
    attachDiskReturnsHint: hint,
    createStemcellTakesTags: apiVersion >= 3,
    userData: registryless ? "settings" : "registry",
    registryWrites: registryless ? [] : REGISTRY_WRITERS,
    reason: registryless
      ? "api_version and stemcell are both 2 or more: no registry"
      : why(apiVersion, stemcell),
    notes,
  };
}

function why(apiVersion: ApiVersion, stemcell: ApiVersion): string {
  const causes: string[] = [];
  if (apiVersion < 2) causes.push(`api_version ${apiVersion} has no way to return a disk hint`);
  if (stemcell < 2) causes.push(`the agent of stemcell version ${stemcell} takes settings from the registry`);
  return causes.join(", and ");
}

const isCaller = (value: unknown): value is CallerVersions => isObject(value);

/** Missing means 1, newer than we know is read as the newest we know, anything else is refused. */
function readVersion(part: string, given: unknown, notes: string[], problems: string[]): ApiVersion {
  if (given === undefined || given === null) return 1;
  if (typeof given !== "number") {
    problems.push(`${part} version must be an integer, got ${kindOf(given)}`);
    return 1;
  }
  if (!Number.isInteger(given) || given < 1) {
    problems.push(`${part} version must be an integer of at least 1, got ${given}`);
    return 1;
  }
  if (given > NEWEST_API_VERSION)
    notes.push(`${part} version ${given} is newer than this contract; read as ${NEWEST_API_VERSION}`);
  return knownVersion(given);
}

/** Callers in the field, by what they were released as. */
export const SHIPPED_CALLERS = {
  "director up to v265": { min: 1, max: 1, registry: true },
  "director v268.2.1 to v271": { min: 1, max: 2, registry: true },
  "director v272 to v282.0": { min: 1, max: 2, registry: false },
  "director v282.1": { min: 1, max: 3, registry: false },
  "director v283 and later": { min: 2, max: 3, registry: false },
  "cli v5.4 to v6": { min: 1, max: 2, registry: true },
  "cli v7 and later": { min: 2, max: 2, registry: false },
} as const satisfies Record<string, CallerVersions>;
