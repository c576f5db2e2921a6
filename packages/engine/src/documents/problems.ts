import type { SlipwayError } from "@slipway/kernel/errors";
import { nearNames } from "@slipway/protocol/near-names";
import { NotValid } from "./errors.ts";

/** A mistake in manifest or cloud config: where, what, and what to do. `code` is upstream's number. */
export interface PlanProblem {
  readonly code: number;
  readonly where: string;
  readonly problem: string;
  readonly fix: string;
}

/** Most problems that are reported; more would not help. */
const MOST = 200;

export interface Report {
  readonly problems: readonly PlanProblem[];
  add(code: number, where: string, problem: string, fix: string): void;
}

export function newReport(): Report {
  const problems: PlanProblem[] = [];
  return {
    problems,
    add: (code, where, problem, fix) => {
      if (problems.length < MOST) problems.push({ code, where, problem, fix });
    },
  };
}

/** A name from a document as part of a place or message: printable and short. */
export function shown(name: unknown): string {
  const text = typeof name === "string" ? name : typeof name === "number" ? String(name) : "?";
  const clean = text.replace(/[^\x20-\x7e\u00a0-\uffff]/g, "?");
  return clean.length > 64 ? `${Array.from(clean.slice(0, 128)).slice(0, 64).join("")}...` : clean;
}

/** Longer names are not misspelled ones. */
const LONGEST = 64;

/** Returns a sentence that names what a mistyped name may have meant, or nothing. */
export function didYouMean(name: string, known: Iterable<string>): string {
  const near = name.length > LONGEST ? [] : nearNames(name, [...known]);
  return near.length === 0 ? "" : `Did you mean ${near.map((one) => `'${shown(one)}'`).join(" or ")}? `;
}

const SHOWN = 20;

/** All problems as one error, under the number of the first. */
export const problemsError = (what: string, problems: readonly PlanProblem[]): SlipwayError =>
  NotValid({ text: textOf(what, problems), number: problems[0]?.code ?? 100 });

function textOf(what: string, problems: readonly PlanProblem[]): string {
  const lines = problems
    .slice(0, SHOWN)
    .map((p) => `- ${p.where === "" ? "" : `${p.where}: `}${p.problem}. ${p.fix}`);
  if (problems.length > SHOWN) lines.push(`- and ${problems.length - SHOWN} more`);
  const count = problems.length === 1 ? "1 problem" : `${problems.length} problems`;
  return `${what}: ${count}\n${lines.join("\n")}`;
}
