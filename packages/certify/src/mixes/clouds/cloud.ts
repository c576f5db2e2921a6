/** Where the mixes are played: everything that differs from one cloud to another. */
export interface Cloud {
  /** A part for one Director alone, whose directory it is. */
  part(dir: string): Promise<Part>;
  /** Removes what the parts have in common. */
  close(): Promise<void>;
}

/** What one Director has of a cloud, and how it looks from outside. */
export interface Part {
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
