import type { Random } from "@slipway/kernel/random";

/**
 * What `certify` must know of a CPI to play the mixes of versions with it: a module beside the CPI's executable exports one as
 * `adapter`, and `matrix --cpi` names the module.
 */
export interface CertifyAdapter {
  /** The CPI's executable, beside the adapter's module. */
  readonly executable: string;
  /** What a VM is there, in a word. */
  readonly vm: string;
  /** Options of the command line that this CPI alone has, each with its line of the help. Their values are strings. */
  readonly options: Readonly<Record<string, string>>;
  open(given: CertifyGiven): Promise<CertifyCloud>;
}

/** Whether something that a module exports can be one. */
export const isAdapter = (value: unknown): value is CertifyAdapter =>
  typeof value === "object" &&
  value !== null &&
  typeof (value as Partial<CertifyAdapter>).open === "function";

export interface CertifyGiven {
  /** The agent's bundle. */
  readonly agent: string;
  /** Where directories are made. */
  readonly parent: string;
  readonly random: Random;
  /** Those that were given of the adapter's own. */
  readonly options: Readonly<Record<string, string | undefined>>;
}

/** Where the mixes are played: everything that differs from one cloud to another. */
export interface CertifyCloud {
  /** A part for one Director alone, whose directory it is. */
  part(dir: string): Promise<CloudPart>;
  /** Removes what the parts have in common. */
  close(): Promise<void>;
}

/** What one Director has of a cloud, and how it looks from outside. */
export interface CloudPart {
  /** `cloud.properties` for its CPI. */
  readonly properties: object;
  /** Where VMs reach a registry of the Director. */
  readonly registryHost: string;
  readonly stemcell: StemcellOfCloud;
  /** Whose it is from now on. Three numbers of an address range that no other Director has. */
  belongsTo(director: DirectorOfPart): string;
  /** As the CPI gave it to the VM. */
  userData(vm: string): Promise<string>;
  /** The settings the agent works with, from its file. */
  settings(vm: string): Promise<string>;
  /** The agent's file of disk hints; undefined when there is none. */
  hints(vm: string): Promise<string | undefined>;
  agentLog(vm: string): Promise<string>;
  vms(): Promise<readonly string[]>;
  disks(): Promise<readonly string[]>;
  /** Removes what is left when the CPI has deleted the VMs and the disks. */
  close(): Promise<void>;
}

export interface DirectorOfPart {
  readonly uuid: string;
  /** The one it listens on. */
  readonly port: number;
}

/** What of a stemcell depends on the cloud. */
export interface StemcellOfCloud {
  readonly image: string;
  readonly operatingSystem: string;
  readonly formats: readonly string[];
  readonly cloudProperties: object;
}
