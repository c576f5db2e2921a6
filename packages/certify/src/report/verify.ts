import type { Receipt } from "./receipt.ts";
import { counted, mixName, standingOf } from "./summary.ts";

/** Executable and rules that a receipt is compared with. */
export interface VerifyAgainst {
  /** Digest of the executable that the receipt is said to be about. */
  readonly sha256: string;
  readonly kind: Receipt["kind"];
  /** Rules that this program knows, by their version. */
  readonly rules: { readonly version: string; readonly ids: readonly string[] };
}

/** One thing that was compared, as a statement. */
export interface Finding {
  readonly ok: boolean;
  readonly text: string;
}

/**
 * Compares a receipt with an executable and with the rules of this program. A receipt is not signed: it says what anyone can
 * find out again by running the rules on the same bytes. So what is compared is whether it speaks of these bytes and of all
 * rules, and whether it claims more than its own verdicts.
 */
export function verifyReceipt(receipt: Receipt, against: VerifyAgainst): readonly Finding[] {
  return [
    receipt.kind === against.kind
      ? yes(`it is the receipt of ${nounOf(against.kind)}`)
      : no(`it is the receipt of ${nounOf(receipt.kind)}, not of ${nounOf(against.kind)}`),
    receipt.subject.sha256 === against.sha256
      ? yes(`it is about this file: sha256 ${against.sha256}`)
      : no(`it is about another file: sha256 ${receipt.subject.sha256}, and this one has ${against.sha256}`),
    ...rulesFindings(receipt, against),
    verdictFinding(receipt),
  ];
}

function rulesFindings(receipt: Receipt, { rules }: VerifyAgainst): readonly Finding[] {
  if (receipt.rules !== rules.version)
    return [no(`it was made by rules ${receipt.rules}, and this program has rules ${rules.version}`)];
  const judged = new Set(receipt.results.map(({ id }) => id));
  const known = new Set(rules.ids);
  const missing = rules.ids.filter((id) => !judged.has(id));
  const unknown = [...judged].filter((id) => !known.has(id));
  return [
    yes(`it was made by the rules of this program, version ${rules.version}`),
    missing.length === 0
      ? yes(`it has a verdict on each of ${counted(rules.ids.length, "rule")}`)
      : no(`it says nothing of ${counted(missing.length, "rule")}: ${listed(missing)}`),
    ...(unknown.length === 0 ? [] : [no(`it has rules that do not exist: ${listed(unknown)}`)]),
  ];
}

function verdictFinding(receipt: Receipt): Finding {
  const standing = standingOf(receipt);
  if (standing === "certified") return yes("nothing failed, and every core rule was judged");
  const names = (verdict: string) => [
    ...receipt.results.filter((one) => one.verdict === verdict).map(({ id }) => id),
    ...(receipt.mixes ?? []).filter((one) => one.verdict === verdict).map(mixName),
  ];
  if (standing === "failed") return no(`these failed: ${listed(names("failed"))}`);
  const left = names("not run");
  return no(left.length === 0 ? "no rule passed" : `not every core rule was run: ${listed(left)}`);
}

export const isVerified = (findings: readonly Finding[]): boolean => findings.every(({ ok }) => ok);

const MOST_LISTED = 10;
const listed = (names: readonly string[]): string =>
  names.length <= MOST_LISTED
    ? names.join(", ")
    : `${names.slice(0, MOST_LISTED).join(", ")} and ${names.length - MOST_LISTED} more`;

const nounOf = (kind: Receipt["kind"]): string => (kind === "cpi" ? "a CPI" : "an agent");
const yes = (text: string): Finding => ({ ok: true, text });
const no = (text: string): Finding => ({ ok: false, text });
