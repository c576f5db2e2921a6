import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { RECEIPT_FORMAT, type Receipt, receiptText } from "@slipway/certify/report/receipt";
import { CPI_RULES } from "@slipway/certify/rules/catalogue";
import { RULES_VERSION } from "@slipway/certify/rules/rule";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { describe, expect, it, onTestFinished } from "vitest";
import { runCli } from "../testing/run-cli.ts";

const PROGRAM = "#!/bin/sh\n";

async function files(change: Partial<Receipt> = {}) {
  const { path, remove } = await temporaryDirectory();
  onTestFinished(remove);
  const [cpi, receipt] = [join(path, "cpi"), join(path, "receipt.json")];
  await writeFile(cpi, PROGRAM);
  const document: Receipt = {
    format: RECEIPT_FORMAT,
    kind: "cpi",
    subject: { name: "cpi", sha256: createHash("sha256").update(PROGRAM).digest("hex") },
    rules: RULES_VERSION,
    date: "2026-11-19T12:00:00.000Z",
    seed: "1",
    options: {},
    results: Object.entries(CPI_RULES).map(([id, { title, area, level }]) => ({
      ...{ id, title, area, level },
      verdict: "passed",
      milliseconds: 1,
    })),
    ...change,
  };
  await writeFile(receipt, receiptText(document));
  return { cpi, receipt };
}

describe("slipway certify verify", () => {
  it("ends with 0 for a receipt of this CPI in which all rules passed", async () => {
    const { cpi, receipt } = await files();
    const { code, out, err } = await runCli(["certify", "verify", receipt, "--cpi", cpi]);
    expect([code, err]).toEqual([0, ""]);
    expect(out).not.toContain("WRONG");
  });

  it("ends with 1 and names the difference when the CPI has changed since", async () => {
    const { cpi, receipt } = await files();
    await writeFile(cpi, `${PROGRAM}exit 1\n`);
    const { code, out } = await runCli(["certify", "verify", receipt, "--cpi", cpi]);
    expect([code, out]).toEqual([1, expect.stringContaining("WRONG  it is about another file")]);
  });

  it("ends with 1 when the receipt leaves out a rule", async () => {
    const { cpi, receipt } = await files({ results: [] });
    const { code, out } = await runCli(["certify", "verify", receipt, "--cpi", cpi]);
    expect([code, out]).toEqual([1, expect.stringContaining("it says nothing of")]);
  });

  it("refuses a CPI's receipt as that of an agent, no executable, and a file that is not there", async () => {
    const { cpi, receipt } = await files();
    const verify = (...words: readonly string[]) => runCli(["certify", "verify", ...words]);
    expect(await verify(receipt, "--agent", cpi)).toMatchObject({
      code: 1,
      out: expect.stringContaining("it is the receipt of a CPI, not of an agent"),
    });
    expect(await verify(receipt)).toMatchObject({
      code: 2,
      err: expect.stringContaining("--cpi or with --agent"),
    });
    expect(await verify(`${receipt}x`, "--cpi", cpi)).toMatchObject({
      code: 1,
      err: expect.stringContaining("cannot be read"),
    });
  });
});
