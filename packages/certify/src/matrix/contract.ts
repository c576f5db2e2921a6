import type { MixOf8 } from "./mixes.ts";

/** How old the agent of a stemcell is: v2 agents of 2018 knew no add_persistent_disk yet. */
export type AgentAge = "v1" | "first v2" | "v2";

/** Parts that meet in one row. */
export interface MixPlayed extends MixOf8 {
  readonly deployer: "Director" | "create-env";
  readonly agent: AgentAge;
}

/** Row of the contract for one mix. */
export interface ContractRow extends MixPlayed {
  /** `info.api_version` of the CPI; null: its info has none. */
  readonly info: 2 | null;
  /** Contents of every call about a VM. */
  readonly sent: {
    readonly apiVersion: 1 | 2 | null;
    readonly stemcell: 1 | 2 | null;
    readonly registry: boolean;
  };
  readonly createVm: "cid" | "[cid, networks]";
  readonly attachDisk: "nothing" | "hint";
  readonly userData: "registry" | "settings";
  /** True if there is a registry, and the CPI keeps the VM's entry in it. */
  readonly registry: boolean;
  /** True if the agent's own file has the hint. */
  readonly hintsFile: boolean;
  /** Messages about disks to the agents of the VMs, one after the other, whether or not the agents know them. */
  readonly told: readonly [first: readonly string[], ...others: (readonly string[])[]];
}

/** Messages of a Director before disk hints, or with a CPI before them. */
const BY_REGISTRY = [
  ["mount_disk", "unmount_disk", "remove_persistent_disk"],
  [
    "mount_disk",
    "mount_disk",
    "migrate_disk",
    "remove_persistent_disk",
    "unmount_disk",
    "remove_persistent_disk",
  ],
] as const;

const BY_HINT = [
  ["add_persistent_disk", "mount_disk", "unmount_disk", "remove_persistent_disk"],
  [
    "add_persistent_disk",
    "mount_disk",
    "add_persistent_disk",
    "mount_disk",
    "migrate_disk",
    "remove_persistent_disk",
    "unmount_disk",
    "remove_persistent_disk",
  ],
] as const;

const BY_WHAT_IT_KNOWS = [
  ["add_persistent_disk", "update_persistent_disk", "mount_disk", "unmount_disk", "remove_persistent_disk"],
  [
    "add_persistent_disk",
    "update_persistent_disk",
    "mount_disk",
    "add_persistent_disk",
    "update_persistent_disk",
    "mount_disk",
    "migrate_disk",
    "remove_persistent_disk",
    "unmount_disk",
    "remove_persistent_disk",
  ],
] as const;

/**
 * The rows of the reference table, written out: nothing here is worked out by the code that is judged. The eighth is
 * played with an agent of today and with one of the first design. `create-env` is always new: it
 * has four of them, and replaces the VM for every change.
 */
export const CONTRACT: readonly ContractRow[] = [
  {
    ...{ deployer: "Director", director: 1, cpi: 1, stemcell: 1, agent: "v1" },
    info: null,
    sent: { apiVersion: null, stemcell: null, registry: false },
    createVm: "cid",
    attachDisk: "nothing",
    userData: "registry",
    registry: true,
    hintsFile: false,
    told: BY_REGISTRY,
  },
  {
    ...{ deployer: "Director", director: 1, cpi: 1, stemcell: 2, agent: "v2" },
    info: null,
    sent: { apiVersion: null, stemcell: null, registry: false },
    createVm: "cid",
    attachDisk: "nothing",
    userData: "registry",
    registry: true,
    hintsFile: false,
    told: BY_REGISTRY,
  },
  {
    ...{ deployer: "Director", director: 1, cpi: 2, stemcell: 1, agent: "v1" },
    info: 2,
    sent: { apiVersion: null, stemcell: null, registry: false },
    createVm: "cid",
    attachDisk: "nothing",
    userData: "registry",
    registry: true,
    hintsFile: false,
    told: BY_REGISTRY,
  },
  {
    ...{ deployer: "Director", director: 1, cpi: 2, stemcell: 2, agent: "v2" },
    info: 2,
    sent: { apiVersion: null, stemcell: null, registry: false },
    createVm: "cid",
    attachDisk: "nothing",
    userData: "registry",
    registry: true,
    hintsFile: false,
    told: BY_REGISTRY,
  },
  {
    ...{ deployer: "Director", director: 2, cpi: 1, stemcell: 1, agent: "v1" },
    info: null,
    sent: { apiVersion: 1, stemcell: 1, registry: true },
    createVm: "cid",
    attachDisk: "nothing",
    userData: "registry",
    registry: true,
    hintsFile: false,
    told: BY_REGISTRY,
  },
  {
    ...{ deployer: "Director", director: 2, cpi: 1, stemcell: 2, agent: "v2" },
    info: null,
    sent: { apiVersion: 1, stemcell: 2, registry: true },
    createVm: "cid",
    attachDisk: "nothing",
    userData: "registry",
    registry: true,
    hintsFile: false,
    told: BY_REGISTRY,
  },
  {
    ...{ deployer: "Director", director: 2, cpi: 2, stemcell: 1, agent: "v1" },
    info: 2,
    sent: { apiVersion: 2, stemcell: 1, registry: true },
    createVm: "[cid, networks]",
    attachDisk: "hint",
    userData: "registry",
    registry: true,
    // The agent got the hint, and did not know the message.
    hintsFile: false,
    told: BY_HINT,
  },
  {
    ...{ deployer: "Director", director: 2, cpi: 2, stemcell: 2, agent: "v2" },
    info: 2,
    sent: { apiVersion: 2, stemcell: 2, registry: false },
    createVm: "[cid, networks]",
    attachDisk: "hint",
    userData: "settings",
    registry: false,
    hintsFile: true,
    told: BY_HINT,
  },
  {
    ...{ deployer: "Director", director: 2, cpi: 2, stemcell: 2, agent: "first v2" },
    info: 2,
    sent: { apiVersion: 2, stemcell: 2, registry: false },
    createVm: "[cid, networks]",
    attachDisk: "hint",
    userData: "settings",
    registry: false,
    hintsFile: true,
    told: BY_WHAT_IT_KNOWS,
  },
  {
    ...{ deployer: "create-env", director: 2, cpi: 1, stemcell: 1, agent: "v1" },
    info: null,
    sent: { apiVersion: 1, stemcell: 1, registry: true },
    createVm: "cid",
    attachDisk: "nothing",
    userData: "registry",
    registry: true,
    hintsFile: false,
    told: [BY_REGISTRY[0], ...BY_REGISTRY],
  },
  {
    ...{ deployer: "create-env", director: 2, cpi: 1, stemcell: 2, agent: "v2" },
    info: null,
    sent: { apiVersion: 1, stemcell: 2, registry: true },
    createVm: "cid",
    attachDisk: "nothing",
    userData: "registry",
    registry: true,
    hintsFile: false,
    told: [BY_REGISTRY[0], ...BY_REGISTRY],
  },
  {
    ...{ deployer: "create-env", director: 2, cpi: 2, stemcell: 1, agent: "v1" },
    info: 2,
    sent: { apiVersion: 2, stemcell: 1, registry: true },
    createVm: "[cid, networks]",
    attachDisk: "hint",
    userData: "registry",
    registry: true,
    hintsFile: false,
    told: [BY_HINT[0], ...BY_HINT],
  },
  {
    ...{ deployer: "create-env", director: 2, cpi: 2, stemcell: 2, agent: "v2" },
    info: 2,
    sent: { apiVersion: 2, stemcell: 2, registry: false },
    createVm: "[cid, networks]",
    attachDisk: "hint",
    userData: "settings",
    registry: false,
    hintsFile: true,
    told: [BY_HINT[0], ...BY_HINT],
  },
];

export const isRow = (row: MixPlayed, mix: MixPlayed): boolean =>
  row.deployer === mix.deployer &&
  row.director === mix.director &&
  row.cpi === mix.cpi &&
  row.stemcell === mix.stemcell &&
  row.agent === mix.agent;

export const rowOf = (mix: MixPlayed): ContractRow | undefined => CONTRACT.find((row) => isRow(row, mix));
