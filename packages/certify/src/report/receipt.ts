import { parseStrictJson } from "@slipway/kernel/strict-json";
import { check } from "@slipway/protocol/schema/check";
import { integer, isObject, json, jsonObject, open, text } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import { ReceiptFormat, ReceiptUnreadable } from "../errors.ts";

/** Format that this program writes, and the only one it reads. */
export const RECEIPT_FORMAT = 1;

export const VERDICTS = ["passed", "failed", "not applicable", "not run"] as const;
export type Verdict = (typeof VERDICTS)[number];

/** One piece of a conversation with the subject; its text is redacted. */
export interface Exchange {
  readonly direction: "request" | "response" | "stderr" | "note";
  readonly text: string;
  /** Marks the piece that violates the rule. */
  readonly marked?: boolean | undefined;
}

export interface Judgement {
  readonly verdict: Verdict;
  /** Says why, for every verdict but `passed`. */
  readonly reason?: string | undefined;
  readonly milliseconds: number;
  readonly conversation?: readonly Exchange[] | undefined;
}

export interface RuleResult extends Judgement {
  /** Stable: `CPI-DISK-003`. */
  readonly id: string;
  readonly title: string;
  readonly area: string;
  readonly level: "core" | "extended";
}

/** Verdict on one mix of versions, deployed with real parts. */
export interface MixResult extends Judgement {
  readonly deployer: "Director" | "create-env";
  readonly director: number;
  readonly cpi: number;
  readonly stemcell: number;
  /** Agent of the stemcell: `v1`, `first v2` or `v2`. */
  readonly agent?: string | undefined;
}

export interface Receipt {
  readonly format: typeof RECEIPT_FORMAT;
  readonly kind: "cpi" | "agent";
  readonly subject: {
    readonly name: string;
    /** Digest of the executable, in lower case hexadecimal digits. */
    readonly sha256: string;
    /** Answer of a CPI to `info`; what an agent says of itself. */
    readonly info?: unknown;
  };
  /** Version of the rules. */
  readonly rules: string;
  /** UTC, as `Date.toISOString` writes it. */
  readonly date: string;
  readonly seed: string;
  readonly options: Readonly<Record<string, unknown>>;
  readonly results: readonly RuleResult[];
  readonly mixes?: readonly MixResult[] | undefined;
}

const judgement = {
  verdict: v.picklist(VERDICTS),
  reason: v.optional(v.string()),
  milliseconds: integer(0, "the time"),
  conversation: v.optional(
    v.array(
      open({
        direction: v.picklist(["request", "response", "stderr", "note"]),
        text: v.string(),
        marked: v.optional(v.boolean()),
      }),
    ),
  ),
};

const ruleResult = open({
  id: v.pipe(
    v.string(),
    v.regex(/^[A-Z][A-Z0-9]*(?:-[A-Z0-9]+)+$/, "a rule id has the form CPI-DISK-003"),
    v.maxLength(60, "a rule id has at most 60 characters"),
  ),
  title: text("a title"),
  area: text("an area"),
  level: v.picklist(["core", "extended"]),
  ...judgement,
});

const mixResult = open({
  deployer: v.picklist(["Director", "create-env"]),
  director: integer(1, "a version"),
  cpi: integer(1, "a version"),
  stemcell: integer(1, "a version"),
  agent: v.optional(v.string()),
  ...judgement,
});

const hasUniqueIds = (results: readonly { readonly id: string }[]): boolean =>
  new Set(results.map(({ id }) => id)).size === results.length;

const receipt = open({
  format: v.literal(RECEIPT_FORMAT),
  kind: v.picklist(["cpi", "agent"]),
  subject: open({
    name: text("a name"),
    sha256: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, "a digest has 64 hexadecimal digits")),
    info: v.optional(json()),
  }),
  rules: text("the version of the rules"),
  date: v.pipe(v.string(), v.isoTimestamp("a date has the form 2026-01-31T12:00:00.000Z")),
  seed: v.string(),
  options: jsonObject(),
  results: v.pipe(
    v.array(ruleResult),
    v.check((list) => hasUniqueIds(list), "a rule may be judged once only"),
  ),
  mixes: v.optional(v.array(mixResult)),
});

/** Reads a receipt that someone published. `what` names it in errors. */
export function readReceipt(source: string, what: string): Receipt {
  const document = parseStrictJson(source, what);
  // First: a later format may differ in everything else.
  const format = isObject(document) ? document.format : undefined;
  if (typeof format === "number" && format !== RECEIPT_FORMAT)
    throw ReceiptFormat({ what, format, known: RECEIPT_FORMAT });
  const checked = check(receipt, document, "");
  if (!checked.ok) throw ReceiptUnreadable({ what, why: checked.problems.join("; ") });
  return checked.value;
}

/** Returns the receipt as a file, in an order of keys that does not change. */
export const receiptText = (made: Receipt): string => `${JSON.stringify(made, null, 2)}\n`;
