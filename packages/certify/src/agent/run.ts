import { toError } from "@slipway/kernel/errors";
import { BUS_CHECKS } from "./bus-checks.ts";
import { CannotTell, type Check, type CheckContext, NEEDS, type Need, type Outcome } from "./check.ts";
import { LEFT_CHECKS } from "./left-checks.ts";
import { MACHINE_CHECKS } from "./machine-checks.ts";
import { STATE_CHECKS } from "./state-checks.ts";
import { WIRE_CHECKS } from "./wire-checks.ts";

export const ALL_CHECKS: readonly Check[] = [
  ...WIRE_CHECKS,
  ...STATE_CHECKS,
  ...MACHINE_CHECKS,
  ...BUS_CHECKS,
  ...LEFT_CHECKS,
];

/** One after the other: later ones build on the disks of earlier ones. */
export async function runChecks(context: CheckContext): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const check of ALL_CHECKS) outcomes.push(await runOne(check, context));
  return outcomes.sort(
    (a, b) => a.check.number - b.check.number || (a.check.part ?? "").localeCompare(b.check.part ?? ""),
  );
}

async function runOne(check: Check, context: CheckContext): Promise<Outcome> {
  const missing = (check.needs ?? []).find((need) => !isGiven(need, context));
  if (missing !== undefined || check.run === undefined) {
    const why = missing === undefined ? "nobody has written it" : (context.absent[missing] ?? NEEDS[missing]);
    return { check, result: "not run", why };
  }
  try {
    await check.run(context);
    return { check, result: "passed" };
  } catch (error) {
    if (error instanceof CannotTell) return { check, result: "not run", why: error.message };
    return { check, result: "failed", why: toError(error).message };
  }
}

function isGiven(need: Need, context: CheckContext): boolean {
  switch (need) {
    case "https":
      return context.https !== undefined;
    case "nats":
      return context.nats !== undefined;
    case "health-monitor":
      return context.nats?.hasHealthMonitor === true;
    case "base-dir":
      return context.baseDir !== undefined;
    case "disks":
      return context.disks !== undefined;
    case "machine":
      return context.machine;
    default:
      return false;
  }
}

/** By result, and what was not run by its reason. */
export function outcomeTable(outcomes: readonly Outcome[]): string {
  const groups = new Map<string, string[]>();
  for (const title of ["passed", "failed"]) groups.set(title, []);
  for (const outcome of outcomes) {
    const title = outcome.result === "not run" ? `not run: ${outcome.why}` : outcome.result;
    const { number, part = "", name } = outcome.check;
    const row = `  ${String(number).padStart(3)}${part.padEnd(1)}  ${name}`;
    const why = outcome.result === "failed" ? `\n        ${outcome.why}` : "";
    groups.set(title, [...(groups.get(title) ?? []), `${row}${why}`]);
  }
  const shown = [...groups].filter(([, rows]) => rows.length > 0);
  const count = (result: string) => outcomes.filter((outcome) => outcome.result === result).length;
  return (
    `${shown.map(([title, rows]) => `${title}\n${rows.join("\n")}\n`).join("\n")}\n` +
    `${count("passed")} passed, ${count("failed")} failed, ${count("not run")} not run\n`
  );
}
