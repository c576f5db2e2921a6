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
  /** Around every call, where some must not be made beside others; default: nothing. */
  readonly around?: <T>(method: string, call: () => Promise<T>) => Promise<T>;
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
  /** The contract lets a CPI do without the method. */
  | { readonly check: CpiCheck; readonly result: "not run"; readonly why: string };
