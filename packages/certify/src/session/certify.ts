import type { Clock } from "@slipway/kernel/clock";
import type { ContractVersion, CpiCheck, CpiOutcome } from "../cpi/check.ts";
import { ResourceTracker } from "../cpi/resource-tracker.ts";
import { CPI_CHECKS, runCpiCheck } from "../cpi/run.ts";
import { NoSuchRule } from "../errors.ts";
import type { Exchange, Receipt, RuleResult, Verdict } from "../report/receipt.ts";
import { AREAS, RULES_VERSION } from "../rules/rule.ts";
import type { Leftover } from "./remove-things.ts";
import { Session, type SessionOrder, type SessionTools } from "./session.ts";

export interface CertifyOrder extends SessionOrder {
  readonly versions: readonly ContractVersion[];
  /** Ids of rules or their beginnings; empty: all. */
  readonly only: readonly string[];
  readonly seed: string;
}

export interface CertifyProgress {
  /** A rule begins: its place, counted from 1, of how many. */
  readonly onRule?: (check: CpiCheck, place: number, of: number) => void;
  readonly onResult?: (result: RuleResult) => void;
  readonly onCleanUp?: () => void;
}

export interface Certified {
  readonly receipt: Receipt;
  /** Things that the run made and could not remove. */
  readonly left: readonly Leftover[];
  /** True if the operator has stopped the run before its end. */
  readonly stopped: boolean;
}

/** Returns the rules that these ids or beginnings of ids name. */
export function rulesNamed(only: readonly string[]): readonly CpiCheck[] {
  for (const rule of only)
    if (!CPI_CHECKS.some(({ id }) => id.startsWith(rule.toUpperCase()))) throw NoSuchRule({ rule });
  return CPI_CHECKS.filter(
    ({ id }) => only.length === 0 || only.some((rule) => id.startsWith(rule.toUpperCase())),
  );
}

/** Checks a CPI executable against the rules. Everything that it was made to make is removed at the end. */
export async function certify(
  order: CertifyOrder,
  tools: SessionTools & { readonly stop: AbortSignal },
  progress: CertifyProgress = {},
): Promise<Certified> {
  const checks = rulesNamed(order.only);
  const session = await Session.open(order, tools);
  let left: readonly Leftover[] = [];
  try {
    const results: RuleResult[] = [];
    let info: unknown;
    let subject: { readonly name: string; readonly sha256: string };
    try {
      subject = await session.subject();
      info = await session.info();
      const trackers = order.versions.map((version) => new ResourceTracker(session.given(version)));
      for (const [at, check] of checks.entries()) {
        if (tools.stop.aborted) break;
        progress.onRule?.(check, at + 1, checks.length);
        const result = await judge(check, trackers, session, tools.clock);
        results.push(result);
        progress.onResult?.(result);
      }
      progress.onCleanUp?.();
      for (const tracker of trackers) await tracker.close().catch(() => undefined);
    } finally {
      left = await session.removeAll();
    }
    const receipt: Receipt = {
      format: 1,
      kind: "cpi",
      subject: { ...subject, ...(info !== undefined && { info }) },
      rules: RULES_VERSION,
      date: new Date(tools.clock.now()).toISOString(),
      seed: order.seed,
      options: { versions: [...order.versions], only: [...order.only] },
      results,
    };
    return { receipt, left, stopped: tools.stop.aborted };
  } finally {
    await session.close();
  }
}

/** Checks one rule in each version. The worst verdict counts. */
async function judge(
  check: CpiCheck,
  trackers: readonly ResourceTracker[],
  session: Session,
  clock: Clock,
): Promise<RuleResult> {
  const { id, rule } = check;
  const begun = clock.monotonic();
  const found: { readonly verdict: Verdict; readonly reason: string | undefined }[] = [];
  let conversation: readonly Exchange[] | undefined;
  // Rules of the registry choose the versions of each call themselves.
  for (const tracker of rule.area === "registry" ? trackers.slice(-1) : trackers) {
    const { version } = tracker;
    const several = trackers.length > 1 ? `version ${version}: ` : "";
    if (version < rule.since) {
      found.push({ verdict: "not applicable", reason: `version ${version} has no such rule` });
      continue;
    }
    session.conversation.begin();
    const outcome = await runCpiCheck(check, tracker, () => session.conversation.mark());
    found.push({
      verdict: outcome.result,
      reason: "why" in outcome ? session.conversation.redact(`${several}${outcome.why}`) : undefined,
    });
    if (outcome.result === "failed") conversation ??= session.conversation.exchanges;
  }
  const verdict = WORST_FIRST.find((one) => found.some((other) => other.verdict === one)) ?? "not applicable";
  const reasons = found.filter((one) => one.verdict === verdict).flatMap(({ reason }) => reason ?? []);
  return {
    id,
    title: rule.title,
    area: AREAS[rule.area],
    level: rule.level,
    verdict,
    ...(reasons.length > 0 && verdict !== "passed" && { reason: reasons.join("; ") }),
    milliseconds: Math.round(clock.monotonic() - begun),
    ...(conversation !== undefined && { conversation }),
  };
}

const WORST_FIRST: readonly CpiOutcome["result"][] = ["failed", "not run", "passed", "not applicable"];
