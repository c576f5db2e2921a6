import { AgentSilent } from "@slipway/engine/agents/agent";
import { CpiRefused } from "@slipway/engine/clouds/cloud";
import { StepFailed } from "@slipway/engine/flows/errors";
import { defineError } from "@slipway/kernel/errors";
import { scrubUrls } from "@slipway/protocol/schema/scrub";
import { EVEN_GROWTH, growth } from "@slipway/testkit/growth";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { debugText, failureOf, shortResult } from "./failure.ts";

const DiskFull = defineError<Record<never, never>>({
  code: "TST-001",
  kind: "outside",
  message: () => "the disk is full",
  next: "Make room.",
});
const NoRoom = defineError<Record<never, never>>({
  code: "TST-003",
  kind: "outside",
  number: 500001,
  message: () => "no room",
  next: "Look.",
});
const Nested = defineError<Record<never, never>>({
  code: "TST-004",
  kind: "operator",
  message: () => "several:\n  - one",
  next: "Look.",
});
const Mistake = defineError<Record<never, never>>({
  code: "TST-002",
  kind: "bug",
  message: () => "cannot be",
  next: "Report it.",
});

const REFUSAL = {
  method: "create_vm",
  type: "A",
  errorName: undefined,
  message: "CPI error 'A' with message 'no'",
  okToRetry: false,
};

describe("the failure of a task", () => {
  it.each([
    ["a plain error", new Error("it broke"), 100, "it broke"],
    ["nothing", undefined, 100, "unknown error"],
    ["an error without a word", new Error(""), 100, "unknown error"],
    ["an error of several lines", new Error("a\n  b\u0000c\t\n\n  d\r\n"), 100, "a\n  b c\n  d"],
    ["one of the catalogue with several lines", Nested({}), 100, "several:\n  - one\n(TST-004). Next: Look."],
    ["one with upstream's number", NoRoom({}), 500001, "no room (TST-003). Next: Look."],
    [
      "one inside another",
      new Error("deploy", { cause: NoRoom({}) }),
      500001,
      "deploy: no room (TST-003). Next: Look.",
    ],
    [
      "a step that failed by an error of the catalogue",
      new StepFailed("web/0", "create_vm", DiskFull({})),
      100,
      "'web/0', create_vm: the disk is full (TST-001). Next: Make room.",
    ],
    [
      "a step that the CPI refused",
      new StepFailed("web/0", "create_vm", new CpiRefused(REFUSAL)),
      100,
      "'web/0', create_vm: CPI error 'A' with message 'no' (DIC-013). Next: Correct what the CPI names, and do it again. `bosh task --cpi` shows the calls.",
    ],
    [
      "an agent whose error has the next step",
      new AgentSilent("agent a did not answer; next: look"),
      100,
      "agent a did not answer; next: look (DIA-014)",
    ],
    ["one of the catalogue", DiskFull({}), 100, "the disk is full (TST-001). Next: Make room."],
    [
      "one with a number inside one without",
      DiskFull({}, { cause: NoRoom({}) }),
      500001,
      "the disk is full: no room (TST-001). Next: Make room.",
    ],
    [
      "a mistake of ours",
      new TypeError("x is undefined"),
      100,
      "x is undefined (unexpected; see `bosh task 7 --debug`)",
    ],
    ["one we name", Mistake({}), 100, "cannot be (unexpected; see `bosh task 7 --debug`)"],
  ])("has code and words for %s", (_, error, code, message) => {
    expect(failureOf(error, 7)).toMatchObject({ code, message });
  });

  it("shows its whole trail in debug", () => {
    const text = debugText(new Error("outer", { cause: new TypeError("inner") }));
    expect(text).toMatch(/outer: inner/);
    expect(text).toMatch(/TypeError: inner\n\s+at /);
    expect(debugText(new AggregateError([new Error("one"), "two"], "both"))).toMatch(/both.*one.*two/s);
  });

  it("keeps credentials of URLs and unrelated fields out", () => {
    const error = Object.assign(new Error("GET https://u:canary@h failed"), { password: "canary" });
    const failure = failureOf(error, 1);
    for (const text of [failure.message, failure.result, debugText(error)])
      expect(text).not.toContain("canary");
  });
});

describe("the result of a task", () => {
  it("is cut after a word", () => {
    expect(shortResult("/deployments/shop")).toBe("/deployments/shop");
    const words = "word ".repeat(40).trim();
    expect(shortResult(words)).toBe(`${"word ".repeat(25).trim()}...`);
    expect(shortResult("x".repeat(200))).toBe(`${"x".repeat(125)}...`);
  });

  it("is never longer than 128 characters, is one line, starts as the text does and holds no half character", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "grapheme", maxLength: 60 }), { maxLength: 20 }), (words) => {
        const text = words.join(" ");
        const result = shortResult(text);
        expect(result.length).toBeLessThanOrEqual(128);
        expect(result).not.toMatch(/[\n\p{Cc}]/u);
        expect(result).not.toMatch(/\p{Surrogate}/u);
        const line = text.replace(/[\s\p{Cc}]+/gu, " ").trim();
        if (result !== line) expect(line.startsWith(result.slice(0, -3))).toBe(true);
      }),
    );
  });
});

describe("the scrubbing of URLs", () => {
  it.each([
    ["a https://u:p@h/x b", "a https://<redacted>@h/x b"],
    ["s3://key@bucket", "s3://<redacted>@bucket"],
    ["https://u:p@ss@h", "https://<redacted>@h"],
    ["https://h/x?token=t&b=1", "https://h/x?token=<redacted>&b=1"],
    ["https://h/a@b", "https://h/a@b"],
    ["me@example.com", "me@example.com"],
  ])("scrubs only the secrets of %s", (text, clean) => {
    expect(scrubUrls(text)).toBe(clean);
  });

  it("takes no longer on a text made to take long", async () => {
    const scrub = (size: number) =>
      scrubUrls(`${"a.".repeat(size * 200_000)}://${"?a-".repeat(size * 200_000)}`);
    expect(await growth(scrub)).toBeLessThan(EVEN_GROWTH);
  });
});
