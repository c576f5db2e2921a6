import { toError } from "@slipway/kernel/errors";
import { CannotTell } from "../expect.ts";
import { BUS_CHECKS } from "./bus-checks.ts";
import { BUS_CONTROL_CHECKS } from "./bus-control-checks.ts";
import { type Check, type CheckContext, type CheckNeed, type CheckOutcome, NEEDS } from "./check.ts";
import { COMPILE_CHECKS } from "./compile-checks.ts";
import { IMAGE_CHECKS } from "./image-checks.ts";
import { JOB_CHECKS } from "./job-checks.ts";
import { MACHINE_CHECKS } from "./machine-checks.ts";
import { AgentConversation } from "./record.ts";
import { RESTART_CHECKS } from "./restart-checks.ts";
import { SCRIPT_CHECKS } from "./script-checks.ts";
import { STATE_CHECKS } from "./state-checks.ts";
import { STORY_CHECKS } from "./story-checks.ts";
import { WIRE_CHECKS } from "./wire-checks.ts";

export const ALL_CHECKS: readonly Check[] = [
  ...WIRE_CHECKS,
  ...STATE_CHECKS,
  ...IMAGE_CHECKS,
  ...JOB_CHECKS,
  ...SCRIPT_CHECKS,
  ...COMPILE_CHECKS,
  ...MACHINE_CHECKS,
  ...BUS_CHECKS,
  ...BUS_CONTROL_CHECKS,
  ...RESTART_CHECKS,
  ...STORY_CHECKS,
];

/** One after the other: later ones build on the disks of earlier ones. */
export async function runChecks(context: CheckContext): Promise<CheckOutcome[]> {
  const outcomes: CheckOutcome[] = [];
  const conversation = new AgentConversation();
  const { clock } = context.agent;
  for (const one of [context.agent, context.https, context.nats])
    if (one !== undefined) one.conversation = conversation;
  for (const check of ALL_CHECKS) {
    if (context.only !== undefined && !context.only.has(check.id)) {
      outcomes.push({ check, milliseconds: 0, result: "not run", why: "left out by --only" });
      continue;
    }
    conversation.begin();
    const begun = clock.monotonic();
    const outcome = await runOne(check, context);
    const milliseconds = clock.monotonic() - begun;
    outcomes.push(
      outcome.result === "failed"
        ? { check, milliseconds, result: "failed", why: outcome.why, conversation: conversation.violation() }
        : { check, milliseconds, ...outcome },
    );
  }
  return outcomes.sort(
    (a, b) => a.check.number - b.check.number || (a.check.part ?? "").localeCompare(b.check.part ?? ""),
  );
}

type Judged =
  | { readonly result: "passed" }
  | { readonly result: "failed"; readonly why: string }
  | { readonly result: "differs" | "not run"; readonly why: string };

async function runOne(check: Check, context: CheckContext): Promise<Judged> {
  const missing = (check.needs ?? []).find((need) => !isGiven(need, context));
  if (missing !== undefined || check.run === undefined) {
    const why = missing === undefined ? "nobody has written it" : (context.absent[missing] ?? NEEDS[missing]);
    return { result: "not run", why };
  }
  const decision = context.differs.get(check.id);
  try {
    await check.run(context);
    if (decision === undefined) return { result: "passed" };
    return { result: "failed", why: `it passes, though it was said to differ: ${decision}` };
  } catch (error) {
    if (error instanceof CannotTell) return { result: "not run", why: error.message };
    if (decision !== undefined) return { result: "differs", why: decision };
    return { result: "failed", why: toError(error).message };
  }
}

function isGiven(need: CheckNeed, context: CheckContext): boolean {
  switch (need) {
    case "https":
      return context.https !== undefined;
    case "nats":
      return context.nats !== undefined;
    case "health-monitor":
      return context.nats?.hasHealthMonitor === true;
    case "base-dir":
      return context.baseDir !== undefined;
    case "nats-base-dir":
      return context.natsBaseDir !== undefined;
    case "disks":
      return context.disks !== undefined;
    case "machine":
      return context.machine;
    case "image-disk":
      return context.imageDisk !== undefined && context.control !== undefined;
    case "restart":
    case "nats-control":
    case "stories":
      return context.control !== undefined;
    case "next-certificate":
      return context.nextCertificate !== undefined;
  }
}

/** `all`: what was not run has not passed. */
export const isPassed = (outcomes: readonly CheckOutcome[], all: boolean): boolean =>
  outcomes.every(({ result }) => result !== "failed" && !(all && result === "not run"));

/** Lists the checks by result, and those that were not run by their reason. */
export function outcomeTable(outcomes: readonly CheckOutcome[]): string {
  const groups = new Map<string, string[]>();
  for (const title of ["passed", "failed"]) groups.set(title, []);
  for (const outcome of outcomes) {
    const told = outcome.result === "not run" || outcome.result === "differs";
    const title = told ? `${outcome.result}: ${outcome.why}` : outcome.result;
    const { id, number, part = "", name } = outcome.check;
    const row = `  ${String(number).padStart(3)}${part.padEnd(1)}  ${id.padEnd(18)}${name}`;
    const why = outcome.result === "failed" ? `\n        ${outcome.why}` : "";
    groups.set(title, [...(groups.get(title) ?? []), `${row}${why}`]);
  }
  const shown = [...groups].filter(([, rows]) => rows.length > 0);
  const count = (result: string) => outcomes.filter((outcome) => outcome.result === result).length;
  const differ = count("differs") > 0 ? `, ${count("differs")} differ by decision` : "";
  return (
    `${shown.map(([title, rows]) => `${title}\n${rows.join("\n")}\n`).join("\n")}\n` +
    `${count("passed")} passed, ${count("failed")} failed${differ}, ${count("not run")} not run\n`
  );
}
