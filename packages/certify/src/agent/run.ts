import { toError } from "@slipway/kernel/errors";
import type { Check, CheckContext, Outcome } from "./check.ts";
import { LEFT_CHECKS, STATE_CHECKS } from "./state-checks.ts";
import { WIRE_CHECKS } from "./wire-checks.ts";

export const ALL_CHECKS: readonly Check[] = [...WIRE_CHECKS, ...STATE_CHECKS, ...LEFT_CHECKS];

/** One after the other: later ones build on the disks of earlier ones. */
export async function runChecks(context: CheckContext): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const check of ALL_CHECKS) outcomes.push(await runOne(check, context));
  return outcomes.sort((a, b) => a.check.number - b.check.number);
}

async function runOne(check: Check, context: CheckContext): Promise<Outcome> {
  const missing = (check.needs ?? []).filter((need) => !given(need, context));
  if (check.run === undefined || missing.length > 0) {
    return { check, result: "not run", why: `needs ${missing.join(", ") || "more than an endpoint"}` };
  }
  try {
    await check.run(context);
    return { check, result: "passed" };
  } catch (error) {
    return { check, result: "failed", why: toError(error).message };
  }
}

const given = (need: string, context: CheckContext): boolean =>
  (need === "base-dir" && context.baseDir !== undefined) || (need === "disks" && context.disks !== undefined);

export function outcomeTable(outcomes: readonly Outcome[]): string {
  const rows = outcomes.map(
    (outcome) =>
      `${String(outcome.check.number).padStart(3)}  ${outcome.result.padEnd(8)} ${outcome.check.name}` +
      (outcome.result === "passed" ? "" : ` (${outcome.why})`),
  );
  const count = (result: string) => outcomes.filter((outcome) => outcome.result === result).length;
  return `${rows.join("\n")}\n\n${count("passed")} passed, ${count("failed")} failed, ${count("not run")} not run\n`;
}
