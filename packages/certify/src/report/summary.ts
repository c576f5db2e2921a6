import type { Judgement, Receipt, RuleResult } from "./receipt.ts";

export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly notApplicable: number;
  readonly notRun: number;
}

export function countsOf(judgements: readonly Judgement[]): Counts {
  const of = (verdict: Judgement["verdict"]) => judgements.filter((one) => one.verdict === verdict).length;
  return {
    passed: of("passed"),
    failed: of("failed"),
    notApplicable: of("not applicable"),
    notRun: of("not run"),
  };
}

export type Standing =
  /** Nothing failed, and every core rule was judged. */
  | "certified"
  /** Some rule or mix failed. */
  | "failed"
  /** Nothing failed, but a core rule or a mix was not run, or nothing passed. */
  | "incomplete";

/** Returns what the receipt says as a whole. */
export function standingOf({ results, mixes = [] }: Receipt): Standing {
  const all: readonly Judgement[] = [...results, ...mixes];
  if (all.some(({ verdict }) => verdict === "failed")) return "failed";
  const left = [...results.filter(({ level }) => level === "core"), ...mixes].some(
    ({ verdict }) => verdict === "not run",
  );
  return left || !all.some(({ verdict }) => verdict === "passed") ? "incomplete" : "certified";
}

/** Returns one sentence with the numbers that are not zero. */
export function summarySentence(judgements: readonly Judgement[], noun = "rule"): string {
  const { passed, failed, notApplicable, notRun } = countsOf(judgements);
  const parts = [
    failed > 0 ? `${failed} failed` : "",
    `${passed} passed`,
    notApplicable > 0 ? `${notApplicable} not applicable` : "",
    notRun > 0 ? `${notRun} not run` : "",
  ].filter((part) => part !== "");
  return `${counted(judgements.length, noun)}: ${parts.join(", ")}`;
}

const PLURALS: Readonly<Record<string, string>> = { mix: "mixes" };

export const counted = (count: number, noun: string): string =>
  `${count} ${count === 1 ? noun : (PLURALS[noun] ?? `${noun}s`)}`;

/** Groups rules by area, areas in the order in which they first appear. */
export function byArea(
  results: readonly RuleResult[],
): readonly { readonly area: string; readonly rules: readonly RuleResult[] }[] {
  const areas = new Map<string, RuleResult[]>();
  for (const result of results) {
    const rules = areas.get(result.area);
    if (rules === undefined) areas.set(result.area, [result]);
    else rules.push(result);
  }
  return [...areas].map(([area, rules]) => ({ area, rules }));
}

/** Names the mix as the tables of mixes do. */
export const mixName = (mix: {
  readonly deployer: string;
  readonly director: number;
  readonly cpi: number;
  readonly stemcell: number;
  readonly agent?: string | undefined;
}): string =>
  `${mix.deployer} v${mix.director}, CPI v${mix.cpi}, stemcell v${mix.stemcell}${
    mix.agent === "first v2" ? " of 2018" : ""
  }`;
