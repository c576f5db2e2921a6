import type { Random } from "@slipway/kernel/random";

/**
 * Adapter that lets `certify` play the mixes of versions with a CPI: a module beside the CPI's executable exports one
 * as `adapter`, and `matrix --cpi` names the module.
 */
export interface CertifyAdapter {
  /** The CPI's executable, beside the adapter's module. */
  readonly executable: string;
  /** Word for a VM of this cloud. */
  readonly vm: string;
  /** Options of the command line that this CPI alone has, each with its line of the help. Their values are strings. */
  readonly options: Readonly<Record<string, string>>;
  open(given: CertifyGiven): Promise<CertifyCloud>;
}

/** Reports whether a value that a module exports can be an adapter. */
export const isAdapter = (value: unknown): value is CertifyAdapter =>
  typeof value === "object" &&
  value !== null &&
  typeof (value as Partial<CertifyAdapter>).open === "function";

export interface CertifyGiven {
  /** The agent's bundle. */
  readonly agent: string;
  /** Parent of the directories that the adapter makes. */
  readonly parent: string;
  readonly random: Random;
  /** Values of the adapter's own options on the command line. */
  readonly options: Readonly<Record<string, string | undefined>>;
}

/** Cloud that the mixes are played in: everything that differs from one cloud to another. */
export interface CertifyCloud {
  /** A part for one Director alone, whose directory it is. */
  part(dir: string): Promise<CloudPart>;
  /** Removes what the parts have in common. */
  close(): Promise<void>;
}

/** Part of a cloud that belongs to one Director, and how it looks from outside. */
export interface CloudPart {
  /** `cloud.properties` for its CPI. */
  readonly properties: object;
  /** Host name or address under which VMs reach a registry of the Director. */
  readonly registryHost: string;
  readonly stemcell: StemcellOfCloud;
  /**
   * Sets the Director that owns the part from now on. Returns three numbers of an address range that no other
   * Director has.
   */
  belongsTo(director: DirectorOfPart): string;
  /** Returns the user-data as the CPI gave it to the VM. */
  userData(vm: string): Promise<string>;
  /** Returns the settings that the agent works with, from its file. */
  settings(vm: string): Promise<string>;
  /** Returns the agent's file of disk hints; undefined if the file is missing. */
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

/** Properties of a stemcell that depend on the cloud. */
export interface StemcellOfCloud {
  readonly image: string;
  readonly operatingSystem: string;
  readonly formats: readonly string[];
  readonly cloudProperties: object;
}
