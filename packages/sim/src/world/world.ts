import type { Networks } from "@slipway/protocol/settings/networks";
import type { SimBus, SimTrust } from "./bus.ts";

/** A cloud and its agents, in memory. It keeps what a real one keeps, and notes what no Director may do to it. */

export interface SimVm {
  readonly cid: string;
  readonly agentId: string;
  readonly stemcell: string;
  readonly networks: Networks;
  metadata: object;
  readonly agent: SimAgentState;
}

/** Fault of the CPI, until it is mended: it refuses, or does its work and answers with an unreadable result. */
export type CpiFault = "refuses" | "answers badly";

export interface SimDisk {
  readonly cid: string;
  size: number;
  /** Content of the disk. Null until it is first mounted. A copy carries it over. */
  data: string | null;
  /** Files written to the disk through an agent, by path. */
  files: Map<string, string>;
  attachedTo: string | null;
  metadata?: object;
}

export interface SimAgentState {
  /** Disks that the agent knows. */
  readonly hints: Map<string, unknown>;
  /** Disks it has linked, by name. */
  readonly links: Map<string, string>;
  /** The disk mounted as the store, and the one a migration goes to. */
  store: string | null;
  target: string | null;
  spec: object;
  running: boolean;
  /** End of its certificate, in ms since 1970. */
  certificateUntil: number;
  /** Trust of an agent on the bus. */
  trust: SimTrust | undefined;
  /** Users that ssh let in. */
  readonly sshUsers: Set<string>;
  /** Errands that ran, by their jobs. */
  readonly errands: string[];
  /** Digests of what it was sent, by id. */
  readonly blobs: Map<string, string>;
  /** Blobs, with their digests, whose content `prepare` has unpacked. */
  readonly unpacked: Set<string>;
  /** The DNS records it has, and their version. */
  dns: { readonly version: number; readonly text: string } | null;
}

export class SimWorld {
  readonly vms = new Map<string, SimVm>();
  readonly disks = new Map<string, SimDisk>();
  readonly stemcells = new Set<string>();
  /** Snapshots, with the disk of each. */
  readonly snapshots = new Map<string, string>();
  /** Networks that were made, with the range of each. */
  readonly networks = new Map<string, string>();
  /** Disks that were deleted, in order. */
  readonly deleted: string[] = [];
  /** Violations of what must never happen, whatever the Director went through. */
  readonly violations: string[] = [];
  /** Methods of the CPI that go wrong. */
  readonly faults = new Map<string, CpiFault>();
  /** Type of the CPI that made each cid, if it is not the Director's own. */
  readonly madeBy = new Map<string, string>();
  /** Agents that answer nothing, until their VM is rebooted. */
  readonly deaf = new Set<string>();
  /**
   * How agents learn of disks: by add_persistent_disk, by update_persistent_disk (the first design), with mount_disk only,
   * or with their settings (draft B).
   */
  generation: "today" | "first design" | "first" | "draft B" = "today";
  /** The agents of new VMs never answer. */
  deafFromBirth = false;
  /** Agents cannot copy a disk to another. They are left with neither of them mounted. */
  copyFails = false;
  /** The CPI recreates a VM to attach or detach a disk: its agent starts with nothing mounted, and knows of no disk. */
  remakesVms = false;
  bus: SimBus = { shows: "", believes: [""] };
  /** Authorities that have been made for the bus. */
  readonly authorities = new Set([""]);
  /** Packages whose compilation fails. */
  readonly uncompilable = new Set<string>();
  /** Packages that agents were to compile, in order. */
  readonly compilations: string[] = [];

  vmOfAgent(agentId: string): SimVm | undefined {
    for (const vm of this.vms.values()) if (vm.agentId === agentId) return vm;
    return undefined;
  }

  violate(text: string): void {
    this.violations.push(text);
  }
}

export const newAgentState = (): SimAgentState => ({
  hints: new Map(),
  links: new Map(),
  store: null,
  target: null,
  spec: {},
  running: false,
  certificateUntil: 0,
  trust: undefined,
  sshUsers: new Set(),
  errands: [],
  blobs: new Map(),
  unpacked: new Set(),
  dns: null,
});
