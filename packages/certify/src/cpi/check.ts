import type { CpiExecutable } from "../exec-cpi.ts";
import type { CpiRuleId } from "../rules/catalogue.ts";
import type { RuleText } from "../rules/rule.ts";
import type { ResourceTracker } from "./resource-tracker.ts";

/** A CPI that is to be checked, and what its cloud takes. */
export interface CpiGiven {
  readonly cpi: CpiExecutable;
  readonly stemcell: { readonly image: string; readonly cloudProperties: object };
  readonly vmProperties: object;
  /** Networks of the n-th VM: no two VMs have an address in common. */
  readonly networks: (n: number) => object;
  readonly uuid: () => string;
  /** Version of the contract that is played, with stemcells of its age; default: 2. */
  readonly version?: ContractVersion;
  /** Properties of every disk. */
  readonly diskProperties?: object;
  /** Size of disks in MiB that is asked for unless a check is about sizes; default: 64. */
  readonly diskSize?: number;
  /** Largest numbers of VMs and of disks to make at a time. */
  readonly atOnce?: { readonly vms: number; readonly disks: number };
  /** Registry that the CPI is configured with. */
  readonly registry?: RegistryView | undefined;
  /** Returns the user-data of a VM as its agent gets it. */
  readonly userData?: ((vm: string) => Promise<string>) | undefined;
  /** Around every call, where some must not be made beside others; default: nothing. */
  readonly around?: <T>(method: string, call: () => Promise<T>) => Promise<T>;
}

export type ContractVersion = 1 | 2 | 3;

/** Requests and entries of the registry, and executables that are configured with worse ones. */
export interface RegistryView {
  /** Requests so far. */
  readonly requests: () => readonly {
    readonly method: string;
    readonly key: string;
    readonly status: number;
  }[];
  readonly entry: (key: string) => Promise<string | undefined>;
  /** The same CPI without a registry. */
  readonly without: CpiExecutable;
  /** The same CPI with a password that the registry refuses. */
  readonly refusing: CpiExecutable;
}

export type RunCheck = (cloud: ResourceTracker) => Promise<void>;

/** Checks of a table of rules: the compiler refuses a rule without a check and a check without a rule. */
export type ChecksOf<Rules> = Readonly<Record<keyof Rules, RunCheck>>;

/** One rule with its check. */
export interface CpiCheck {
  readonly id: CpiRuleId;
  readonly rule: RuleText;
  readonly run: RunCheck;
}

export type CpiOutcome =
  | { readonly check: CpiCheck; readonly result: "passed" }
  | { readonly check: CpiCheck; readonly result: "failed"; readonly why: string }
  /** The contract lets a CPI do without the method, or this cloud cannot show the rule. */
  | { readonly check: CpiCheck; readonly result: "not applicable"; readonly why: string }
  /** The CPI could not make what the check needs. */
  | { readonly check: CpiCheck; readonly result: "not run"; readonly why: string };
