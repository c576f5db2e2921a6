import type { Capabilities } from "@slipway/protocol/cpi/capabilities";
import type { Dialect } from "@slipway/protocol/cpi/create-vm-result";
import { CpiRefused, refusedAs } from "./cloud.ts";

/** The dialects whose `attach_disk` takes the disks of the VM as a third argument. */
const TAKES_DISKS: readonly Dialect[] = ["draft-a", "draft-b", "2018-object"];

/**
 * The dialect of a CPI that announces no capabilities, as its answers have shown it. Kept for as long as the CPI's entry
 * stays as it is, longer than one task. Records are no proof: the CPI that made a VM may have been replaced.
 */
export class ShownDialect {
  #takesDisks = false;

  /** Takes note of a `create_vm` result. */
  saw(dialect: Dialect): void {
    if (TAKES_DISKS.includes(dialect)) this.#takesDisks = true;
  }

  /** Takes note that the CPI has refused arguments: it may have been replaced. */
  refuted(): void {
    this.#takesDisks = false;
  }

  /** Returns what the CPI announces, and what it has shown where it announces nothing of it. */
  over(announced: Capabilities): Capabilities {
    const { attach_disk_takes_disks: takes, create_vm_result: result } = announced;
    const silent = takes === undefined && result === undefined;
    return silent && this.#takesDisks ? { ...announced, attach_disk_takes_disks: true } : announced;
  }
}

const ARGUMENTS = /wrong number of arguments|arguments are not correct|(?:not enough|too many) arguments/i;

/** True for errors that say the call itself was of the wrong form: another version or dialect was expected. */
export const refusedByShape = (error: unknown): boolean =>
  refusedAs(error, "InvalidCall", "CPIAPIVersionNotSupported") ||
  (error instanceof CpiRefused && ARGUMENTS.test(error.message));
