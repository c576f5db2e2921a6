/** Groups of rules, in the order of reports. */
export const AREAS = {
  wire: "Requests and replies",
  stemcells: "Stemcells",
  vms: "VMs",
  networks: "Networks",
  disks: "Disks",
  snapshots: "Snapshots",
  calls: "Repeated, concurrent and interrupted calls",
  registry: "Registry and user-data",
} as const;

export type Area = keyof typeof AREAS;

/** Text of one rule. Its id is its key in the tables of this folder and never changes its meaning. */
export interface RuleText {
  readonly title: string;
  readonly area: Area;
  /** Core rules hold for every CPI; a CPI may do without the methods of extended ones. */
  readonly level: "core" | "extended";
  /** First version of the contract that has the rule. */
  readonly since: 1 | 2 | 3;
  /** Sentence of the contract. */
  readonly contract: string;
  /** How the check finds out. */
  readonly checked: string;
  /** Cost of a violation to an operator. */
  readonly cost: string;
  /** Number in the checklist of the contract's reference. */
  readonly number: number;
}

export type RuleTable = Readonly<Record<`CPI-${string}`, RuleText>>;

/** Version of the catalogue, for receipts: changes with every rule that is added, removed or read differently. */
export const RULES_VERSION = "1.1";
