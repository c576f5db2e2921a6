import type { Vitals } from "@slipway/protocol/agent/heartbeat";
import type { Networks } from "@slipway/protocol/settings/networks";
import type { DiskPlatform } from "./disks.ts";

/** Networks of the machine, behind one interface. */
export interface NetworkPlatform {
  /** Writes and applies the configuration; unchanged configuration changes nothing. */
  configure(networks: Networks, signal: AbortSignal): Promise<void>;
  /** Address, netmask and gateway that DHCP or the sandbox gave; undefined when there is no default route. */
  live(): Promise<LiveNetwork | undefined>;
  deleteArpEntries(ips: readonly string[]): Promise<void>;
}

export interface LiveNetwork {
  readonly ip: string;
  readonly netmask: string;
  readonly gateway: string;
}

/** The rest of the operating system an agent touches. */
export interface SystemPlatform {
  setHostname(agentId: string): Promise<void>;
  writeHosts(records: readonly (readonly [ip: string, name: string])[], agentId: string): Promise<void>;
  setPassword(user: string, cryptHash: string): Promise<void>;
  setAuthorizedKeys(user: string, keys: readonly string[]): Promise<void>;
  /** Resolves to the port to reach it by, on this address of the VM, where that is not the usual one. */
  createSshUser(user: string, publicKey: string, ip: string): Promise<number | undefined>;
  /** Deletes users that start with `bosh_` and match. */
  deleteSshUsers(pattern: RegExp): Promise<void>;
  hostPublicKey(): Promise<string>;
  setNtp(servers: readonly string[]): Promise<void>;
  setTrustedCertificates(pems: readonly string[]): Promise<void>;
  chown(path: string, user: string): Promise<void>;
  /** Has the machine keep the logs of jobs below this size, as logrotate writes it. False when it has nothing for it. */
  setLogRotation(size: string): Promise<boolean>;
  powerOff(): Promise<void>;
  vitals(mountPoints: { readonly ephemeral: string; readonly persistent: string }): Promise<Vitals>;
}

/** Sets up the directories of the machine that are on the ephemeral disk or in memory. All calls may be repeated. */
export interface LayoutPlatform {
  /** `/var/log`, `/var/opt` and `/opt` on the ephemeral disk; shared memory from which no program is run. */
  systemDirectories(): Promise<void>;
  /** Starts the logging services, which then write into `/var/log`. */
  startLogging(): Promise<void>;
  /** Refuses to go on in a VM that has lost what it kept in memory. */
  memory(request: MemoryRequest): Promise<void>;
  /** `/tmp`, `/var/tmp` and `/home`. */
  temporary(): Promise<void>;
}

export interface MemoryRequest {
  /** Size of the run directory, in the form of mount(8). Undefined for upstream's size. */
  readonly runSize: string | undefined;
  /** True if rendered jobs are kept in memory, with `jobsSize` as the limit. */
  readonly jobs: boolean;
  readonly jobsSize: string | undefined;
  /** True if the settings are kept in memory. The settings store moves them there. */
  readonly settings: boolean;
}

export interface Platform {
  readonly name: string;
  readonly disks: DiskPlatform;
  readonly networks: NetworkPlatform;
  readonly system: SystemPlatform;
  readonly layout: LayoutPlatform;
}
