import { columnsText } from "../columns.ts";
import { oneLine } from "./escape.ts";
import type { Receipt } from "./receipt.ts";
import { mixName, standingOf, summarySentence } from "./summary.ts";

const STANDING = {
  certified: "Nothing failed, and every core rule was judged.",
  failed: "It does not keep the contract.",
  incomplete: "Nothing failed, but not every core rule was judged: this is no proof.",
} as const;

/** Returns the receipt as a table for a terminal, with a reason for every verdict but `passed`. */
export function tableOf(receipt: Receipt): string {
  const { results, mixes = [], subject } = receipt;
  const rows = results.map(({ id, level, verdict, milliseconds, title }) => [
    verdict,
    id,
    level,
    `${milliseconds} ms`,
    oneLine(title),
  ]);
  const mixRows = mixes.map((mix) => [mix.verdict, mixName(mix), `${mix.milliseconds} ms`]);
  const reasons = [
    ...results.map(({ id, verdict, reason }) => ({ name: id, verdict, reason })),
    ...mixes.map((mix) => ({ name: mixName(mix), verdict: mix.verdict, reason: mix.reason })),
  ].filter(({ verdict, reason }) => verdict !== "passed" && reason !== undefined && reason !== "");
  return [
    `${oneLine(subject.name)} (sha256 ${subject.sha256.slice(0, 12)}), rules ${oneLine(receipt.rules)}, seed ${oneLine(receipt.seed)}`,
    "",
    columnsText([["verdict", "rule", "level", "time", "title"], ...rows]),
    ...(mixRows.length > 0 ? ["", columnsText([["verdict", "mix", "time"], ...mixRows])] : []),
    ...(reasons.length > 0
      ? ["", ...reasons.map(({ name, verdict, reason }) => `${name} ${verdict}: ${oneLine(reason ?? "")}`)]
      : []),
    "",
    summarySentence(results),
    ...(mixes.length > 0 ? [summarySentence(mixes, "mix")] : []),
    STANDING[standingOf(receipt)],
    "",
  ].join("\n");
}
