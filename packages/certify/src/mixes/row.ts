import type { DiskHintWire } from "@slipway/protocol/settings/disk-hint";
import type { MixPlayed } from "../matrix/contract.ts";

/** The methods that keep a VM's entry in the registry, where there is one. */
export const REGISTRY_USERS = ["create_vm", "attach_disk", "detach_disk", "delete_vm"] as const;
export type RegistryUser = (typeof REGISTRY_USERS)[number];

export type Hints = Readonly<Record<string, DiskHintWire>>;

/** Entry of the registry for a VM. */
export type RegistryState = "not started" | "no entry" | { readonly agentId: string; readonly disks: Hints };

/** One call to the CPI that concerns a VM, seen from both sides of it while the Director waited. */
export interface CallSeen {
  readonly method: RegistryUser;
  /** Versions as the Director sent them; null if it sent none. */
  readonly apiVersion: number | null;
  readonly stemcell: number | null;
  readonly registryTold: boolean;
  readonly vm: string;
  readonly disk: string | null;
  /** The agent id that create_vm was given. */
  readonly agentId: string | null;
  readonly answer: "cid" | "[cid, networks]" | "other" | DiskHintWire | null;
  readonly before: RegistryState;
  readonly after: RegistryState;
}

export type When = "deployed" | "recreated" | "resized" | "stopped" | "deleted";

/** State of all parts when a part of the story was over. */
export interface MixSnapshot {
  readonly when: When;
  readonly vm: string | null;
  readonly disk: string | null;
  readonly registry: RegistryState;
  readonly userData: "settings" | "registry" | "unusable" | null;
  readonly settingsFrom: "user-data" | "registry" | "unknown" | null;
  /** The agent's own file of hints; null when there is no VM. */
  readonly hints: Hints | null;
  /** Fate of the text first written on the disk, read through the agent of this VM. */
  readonly data: "written" | "kept" | "lost" | null;
}

/** Messages about disks that the agent of a VM logged, from the first to the last. */
export interface AgentMessagesOfVm {
  readonly vm: string;
  readonly messages: readonly string[];
}

export interface MixObservations extends MixPlayed {
  /** `info.api_version`; null when the CPI does not say. */
  readonly cpiSaid: number | null;
  readonly calls: readonly CallSeen[];
  readonly moments: readonly MixSnapshot[];
  readonly told: readonly AgentMessagesOfVm[];
  /** VMs and disks that were still there in the end. */
  readonly left: readonly string[];
}

export interface MixRow extends MixObservations {
  readonly agrees: boolean;
  readonly problems: readonly string[];
  readonly seconds: number;
}
