import type { Vitals } from "@slipway/protocol/agent/heartbeat";
import type { Networks } from "@slipway/protocol/settings/networks";
import type { DiskPlatform } from "./disks.ts";

/** Networks of the machine, behind one door. */
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
  createSshUser(user: string, publicKey: string): Promise<void>;
  /** Deletes users that start with `bosh_` and match. */
  deleteSshUsers(pattern: RegExp): Promise<void>;
  hostPublicKey(): Promise<string>;
  setNtp(servers: readonly string[]): Promise<void>;
  setTrustedCertificates(pems: readonly string[]): Promise<void>;
  chown(path: string, user: string): Promise<void>;
  powerOff(): Promise<void>;
  vitals(mountPoints: { readonly ephemeral: string; readonly persistent: string }): Promise<Vitals>;
}

export interface Platform {
  readonly name: string;
  readonly disks: DiskPlatform;
  readonly networks: NetworkPlatform;
  readonly system: SystemPlatform;
}
