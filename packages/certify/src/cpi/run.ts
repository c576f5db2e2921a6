import { messageTrail } from "@slipway/kernel/errors";
import { CannotTell, Prerequisite } from "../expect.ts";
import { CPI_RULES, type CpiRuleId, isCpiRuleId, ruleOf } from "../rules/catalogue.ts";
import type { ChecksOf, CpiCheck, CpiOutcome } from "./check.ts";
import { DISK_CHECKS } from "./disk-checks.ts";
import { INTERRUPTION_CHECKS } from "./interruption-checks.ts";
import { REGISTRY_CHECKS } from "./registry-checks.ts";
import type { ResourceTracker } from "./resource-tracker.ts";
import { VM_CHECKS } from "./vm-checks.ts";
import { WIRE_CHECKS } from "./wire-checks.ts";

const RUN_CHECKS: ChecksOf<typeof CPI_RULES> = {
  ...WIRE_CHECKS,
  ...VM_CHECKS,
  ...DISK_CHECKS,
  ...REGISTRY_CHECKS,
  ...INTERRUPTION_CHECKS,
};

/** Judges the errors that all other checks have met. */
const LAST: CpiRuleId = "CPI-WIRE-012";

/**
 * Checks of the contract that hold for every CPI, each call a process of its own. The eight mixes of versions are played
 * elsewhere: see `matrix` and `mixes`.
 */
export const CPI_CHECKS: readonly CpiCheck[] = [...Object.keys(CPI_RULES).filter((id) => id !== LAST), LAST]
  .filter(isCpiRuleId)
  .map((id) => ({ id, rule: ruleOf(id), run: RUN_CHECKS[id] }));

/** Runs a check and removes what it made, which is a part of every check. */
export async function runCpiCheck(
  check: CpiCheck,
  cloud: ResourceTracker,
  onFailure: () => void = () => {},
): Promise<CpiOutcome> {
  const left: string[] = [];
  try {
    await check.run(cloud);
  } catch (error) {
    if (error instanceof CannotTell) return { check, result: "not applicable", why: error.message };
    if (error instanceof Prerequisite) return { check, result: "not run", why: error.message };
    onFailure();
    return { check, result: "failed", why: messageTrail(error) };
  } finally {
    left.push(...(await cloud.sweep()));
  }
  return left.length === 0
    ? { check, result: "passed" }
    : { check, result: "failed", why: `cannot be removed: ${left.join("; ")}` };
}
