import { sampleOf } from "@slipway/testkit/sample";
import { expect, it } from "vitest";
import type { ResourceTracker } from "../cpi/resource-tracker.ts";
import { CPI_CHECKS, runCpiCheck } from "../cpi/run.ts";

/** Number of checks to run for each CPI, of all rules. */
const SAMPLE = 2;

/** Checks without those of the registry, which need a registry that is watched. */
const CHECKS = CPI_CHECKS.filter(({ rule }) => rule.area !== "registry");

/** The same checks for every CPI, each a test. Those of `without` need methods that this CPI does not have. */
export function passesChecks(
  name: string,
  cloud: () => ResourceTracker,
  without: readonly number[] = [],
): void {
  it.each(
    sampleOf(`contract of ${name}`, CHECKS, SAMPLE).map((check) => ({
      label: `${check.id} ${check.rule.title}`,
      check,
    })),
  )("$label", async ({ check }) => {
    const { result, ...more } = await runCpiCheck(check, cloud());
    expect({ result, ...("why" in more && { why: more.why }) }).toMatchObject({
      result: without.includes(check.rule.number) ? "not applicable" : "passed",
    });
  });
}
