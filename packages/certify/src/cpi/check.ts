import type { CpiExecutable } from "../exec-cpi.ts";
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

export interface CpiCheck {
  /** Number in the conformance checklist of the CPI contract. */
  readonly number: number;
  readonly name: string;
  readonly run: (cloud: ResourceTracker) => Promise<void>;
}

export type CpiOutcome =
  | { readonly check: CpiCheck; readonly result: "passed" }
  | { readonly check: CpiCheck; readonly result: "failed"; readonly why: string }
  /** The contract lets a CPI do without the method. */
  | { readonly check: CpiCheck; readonly result: "not run"; readonly why: string };
