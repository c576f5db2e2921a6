import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { badgeOf } from "./badge.ts";
import { htmlOf } from "./html.ts";
import { junitOf } from "./junit.ts";
import { readReceipt } from "./receipt.ts";
import { elements, markupOf } from "./testing/markup.ts";
import { failed, HOSTILE, hostileReceipt, passed, receiptWith } from "./testing/receipts.ts";
import { tableOf } from "./text.ts";
import { REPORT_FILES, writeReports } from "./write-reports.ts";

const ordinary = receiptWith(
  [
    passed("CPI-DISK-001"),
    failed("CPI-DISK-002"),
    passed("CPI-NET-001", {
      area: "networks",
      level: "extended",
      verdict: "not applicable",
      reason: "this cloud has no VIP networks",
    }),
  ],
  {
    mixes: [
      {
        deployer: "create-env",
        director: 1,
        cpi: 2,
        stemcell: 2,
        agent: "first v2",
        verdict: "not run",
        reason: "--mixes was not given",
        milliseconds: 0,
      },
    ],
  },
);

describe("JUnit XML of a receipt", () => {
  it("has a suite for each area and counts failures and what was skipped", () => {
    const root = markupOf(junitOf(ordinary));
    const suites = elements(root, "testsuite").map(({ attributes: { name, tests, failures, skipped } }) => [
      name,
      tests,
      failures,
      skipped,
    ]);
    expect(suites).toEqual([
      ["disks", "2", "1", "0"],
      ["networks", "1", "0", "1"],
      ["mixes", "1", "0", "1"],
    ]);
    expect(elements(root, "testsuites")[0]?.attributes).toMatchObject({
      tests: "4",
      failures: "1",
      skipped: "2",
    });
  });

  it("has the reason and the conversation of a failure, with the violating message marked", () => {
    const [failure] = elements(markupOf(junitOf(ordinary)), "failure");
    expect(failure?.attributes.message).toBe("has_disk says true after delete_disk");
    expect(failure?.text).toContain('>>> response: {"result":true,"error":null,"log":""}');
  });

  it("stays well-formed and keeps its structure when every text is hostile", () => {
    const root = markupOf(junitOf(hostileReceipt()));
    expect(elements(root, "testcase")).toHaveLength(3);
    expect(elements(root, "script")).toEqual([]);
    expect(elements(root, "failure")[0]?.attributes.message).toContain("<script>alert(1)</script>");
  });
});

describe("the HTML page of a receipt", () => {
  const page = (receipt = ordinary) => markupOf(htmlOf(receipt), ["style"]);

  it("has every rule under its area with its verdict, and a place of its own", () => {
    const rules = elements(page(), "article").map(({ attributes }) => [attributes.id, attributes.class]);
    expect(rules).toEqual([
      ["CPI-DISK-001", "rule passed core"],
      ["CPI-DISK-002", "rule failed core"],
      ["CPI-NET-001", "rule na extended"],
      ["MIX-1", "rule notrun core"],
    ]);
  });

  it("shows the conversation of a failure opened, with the violating message marked", () => {
    const [details] = elements(page(), "details");
    expect(details?.attributes).toHaveProperty("open");
    const marked = elements(page(), "div").filter(({ attributes }) => attributes.class === "exchange marked");
    expect(marked).toHaveLength(1);
    expect(marked[0]?.children.map(({ text }) => text)).toEqual([
      "response, which violates the rule",
      '{\n  "result": true,\n  "error": null,\n  "log": ""\n}',
    ]);
  });

  it("shows what is not compact JSON exactly as it was sent", () => {
    const text = '{"a":1,"a":2}';
    const receipt = receiptWith([
      failed("CPI-DISK-002", { conversation: [{ direction: "response", text }] }),
    ]);
    expect(elements(page(receipt), "pre").map((one) => one.text)).toEqual([text]);
  });

  it("needs no script, no other file, and allows none by its policy", () => {
    const root = page();
    const names = ["script", "link", "img", "iframe", "object", "embed", "base", "form"];
    expect(names.flatMap((name) => elements(root, name))).toEqual([]);
    const [style] = elements(root, "style");
    expect(style?.text).not.toMatch(/url\(|@import/);
    const policy = elements(root, "meta").find(
      ({ attributes }) => attributes["http-equiv"] === "Content-Security-Policy",
    )?.attributes.content;
    const digest = createHash("sha256")
      .update(style?.text ?? "")
      .digest("base64");
    expect(policy).toBe(
      `default-src 'none'; style-src 'sha256-${digest}'; base-uri 'none'; form-action 'none'`,
    );
  });

  it("has no element and no attribute of a hostile text", () => {
    const root = page(hostileReceipt());
    expect([...elements(root, "script"), ...elements(root, "img")]).toEqual([]);
    const all = elements(root, "article").flatMap((one) => Object.keys(one.attributes));
    expect(new Set(all)).toEqual(new Set(["class", "id"]));
    expect(elements(root, "title")[0]?.text).toContain("<script>alert(1)</script>");
  });
});

describe("the badge of a receipt", () => {
  const label = (svg: string) => elements(markupOf(svg), "title")[0]?.text;

  it.each([
    ["the number of rules that passed", receiptWith([passed("CPI-DISK-001")]), "BOSH CPI contract: 1 passed"],
    ["the number of rules that failed", ordinary, "BOSH CPI contract: 1 failed"],
    ["that it is no proof yet", receiptWith([], { kind: "agent" }), "BOSH agent contract: incomplete"],
    ["no text of a hostile receipt", hostileReceipt(), "BOSH CPI contract: 2 failed"],
  ])("says %s", (_, receipt, text) => {
    expect(label(badgeOf(receipt))).toBe(text);
  });
});

describe("the table of a receipt", () => {
  it("has each rule, the reasons of what did not pass, and the numbers", () => {
    const text = tableOf(ordinary);
    expect(text).toContain("CPI-DISK-002 failed: has_disk says true after delete_disk");
    expect(text).toContain("create-env v1, CPI v2, stemcell v2 of 2018 not run: --mixes was not given");
    expect(text).toContain("3 rules: 1 failed, 1 passed, 1 not applicable");
    expect(text).toContain("It does not keep the contract.");
  });

  it("gives a terminal no control character of a hostile text, and each rule one line", () => {
    const text = tableOf(hostileReceipt());
    expect(text).not.toMatch(/[^\P{Cc}\n]|[\u202e\ud800]/u);
    expect(text).toContain("\\u001b[31m\\u202egnp\\ud800");
    expect(HOSTILE).toContain("\u202e");
  });
});

describe("a report", () => {
  let dir = "";
  afterEach(() => rm(dir, { recursive: true, force: true }));

  it("has all forms in a directory that it makes, and the receipt can be read again", async () => {
    dir = await mkdtemp(join(tmpdir(), "certify-report-"));
    const report = join(dir, "a", "report");
    await writeReports(report, ordinary);
    expect((await readdir(report)).sort()).toEqual(Object.values(REPORT_FILES).sort());
    const source = await readFile(join(report, REPORT_FILES.receipt), "utf8");
    expect(readReceipt(source, "receipt.json")).toEqual(ordinary);
    expect((await stat(join(report, REPORT_FILES.html))).mode & 0o777).toBe(0o644);
  });
});
