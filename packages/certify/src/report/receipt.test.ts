import { describe, expect, it } from "vitest";
import { type Receipt, readReceipt, receiptText } from "./receipt.ts";
import { standingOf, summarySentence } from "./summary.ts";
import { failed, hostileReceipt, passed, receiptWith } from "./testing/receipts.ts";
import { isVerified, verifyReceipt } from "./verify.ts";

const read = (change: (document: Record<string, unknown>) => unknown): Receipt => {
  const document = JSON.parse(receiptText(receiptWith([passed("CPI-DISK-001")]))) as Record<string, unknown>;
  return readReceipt(JSON.stringify(change(document)), "receipt.json");
};

describe("a receipt", () => {
  it.each([
    ["ordinary", receiptWith([passed("CPI-DISK-001"), failed("CPI-DISK-002")])],
    ["hostile", hostileReceipt()],
  ])("comes back from its file as it was written when it is %s", (_, receipt) => {
    expect(readReceipt(receiptText(receipt), "receipt.json")).toEqual(receipt);
  });

  it("is refused by its format when that is a later one, whatever else it holds", () => {
    expect(() => readReceipt('{"format":2,"findings":{}}', "receipt.json")).toThrow(
      "receipt.json is a receipt of format 2, and this slipway reads format 1",
    );
  });

  it.each<[string, (document: Record<string, unknown>) => unknown, string]>([
    ["has no format", ({ format: _, ...rest }) => rest, "format: it is missing"],
    ["is a list", () => [], "expected an object"],
    ["has a rule id with markup", (d) => ({ ...d, results: [passed("<b>")] }), "a rule id has the form"],
    [
      "judges a rule twice",
      (d) => ({ ...d, results: [passed("CPI-DISK-001"), passed("CPI-DISK-001")] }),
      "a rule may be judged once only",
    ],
    [
      "has a digest of another length",
      (d) => ({ ...d, subject: { name: "x", sha256: "ab" } }),
      "a digest has 64 hexadecimal digits",
    ],
    ["has a date of another form", (d) => ({ ...d, date: "yesterday" }), "a date has the form"],
    [
      "has a verdict of its own",
      (d) => ({ ...d, results: [{ ...passed("CPI-DISK-001"), verdict: "excellent" }] }),
      "results[0].verdict",
    ],
  ])("is refused when it %s", (_, change, why) => {
    expect(() => read(change)).toThrow(why);
  });
});

describe("the standing of a receipt", () => {
  const notRun = passed("CPI-DISK-002", { verdict: "not run", reason: "needs --faults" });

  it.each([
    ["certified when all rules passed", [passed("CPI-DISK-001")], "certified"],
    ["failed when one rule failed", [passed("CPI-DISK-001"), failed("CPI-DISK-002")], "failed"],
    ["incomplete when a core rule was not run", [passed("CPI-DISK-001"), notRun], "incomplete"],
    [
      "certified when only an extended rule was not run",
      [passed("CPI-DISK-001"), { ...notRun, level: "extended" as const }],
      "certified",
    ],
    ["incomplete when nothing passed", [{ ...notRun, verdict: "not applicable" as const }], "incomplete"],
    ["incomplete when there are no rules", [], "incomplete"],
  ])("is %s", (_, results, standing) => {
    expect(standingOf(receiptWith(results))).toBe(standing);
  });

  it("counts a mix that failed", () => {
    const mix = { deployer: "Director", director: 2, cpi: 2, stemcell: 2, milliseconds: 1 } as const;
    expect(
      standingOf(receiptWith([passed("CPI-DISK-001")], { mixes: [{ ...mix, verdict: "failed" }] })),
    ).toBe("failed");
  });

  it("is told with the numbers that are not zero", () => {
    expect(summarySentence([passed("CPI-DISK-001"), failed("CPI-DISK-002"), notRun])).toBe(
      "3 rules: 1 failed, 1 passed, 1 not run",
    );
    expect(summarySentence([passed("CPI-DISK-001")])).toBe("1 rule: 1 passed");
  });
});

describe("verifying a receipt", () => {
  const against = {
    kind: "cpi",
    sha256: "ab".repeat(32),
    rules: { version: "1", ids: ["CPI-DISK-001", "CPI-DISK-002"] },
  } as const;
  const whole = receiptWith([passed("CPI-DISK-001"), passed("CPI-DISK-002")]);
  const complaints = (receipt: Receipt) =>
    verifyReceipt(receipt, against)
      .filter(({ ok }) => !ok)
      .map(({ text }) => text);

  it("finds nothing wrong with a receipt of this file in which all rules passed", () => {
    expect(isVerified(verifyReceipt(whole, against))).toBe(true);
  });

  it.each<[string, Receipt, string]>([
    [
      "another file",
      { ...whole, subject: { name: "x", sha256: "cd".repeat(32) } },
      "it is about another file",
    ],
    ["an agent", { ...whole, kind: "agent" }, "it is the receipt of an agent, not of a CPI"],
    ["other rules", { ...whole, rules: "0" }, "it was made by rules 0"],
    ["fewer rules", receiptWith([passed("CPI-DISK-001")]), "it says nothing of 1 rule: CPI-DISK-002"],
    [
      "rules that do not exist",
      { ...whole, results: [...whole.results, passed("CPI-DISK-009")] },
      "it has rules that do not exist: CPI-DISK-009",
    ],
    [
      "a rule that failed",
      receiptWith([passed("CPI-DISK-001"), failed("CPI-DISK-002")]),
      "these failed: CPI-DISK-002",
    ],
    [
      "a core rule that was not run",
      receiptWith([passed("CPI-DISK-001"), passed("CPI-DISK-002", { verdict: "not run" })]),
      "not every core rule was run: CPI-DISK-002",
    ],
  ])("complains of a receipt with %s, and of nothing else", (_, receipt, complaint) => {
    expect(complaints(receipt)).toEqual([expect.stringContaining(complaint)]);
  });
});
