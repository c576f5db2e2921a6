import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { messageText } from "./error-text.mjs";

const sources = ["packages", "examples"].flatMap((home) =>
  readdirSync(home, { recursive: true, encoding: "utf8" })
    .filter((path) => /^[^/]+\/src\/.*\.ts$/.test(path) && !/\.test\.ts$|\/testing\/|^testkit\//.test(path))
    .map((path) => readFileSync(join(home, path), "utf8")),
);

/** The code of an error is written out where it is defined; `define` covers helpers that are given one. */
const DEFINED = /\b(?:code: (?:string = )?|missing\(\s*)"([A-Z]{3}-\d{3})"/g;
const defined = sources.flatMap((text) =>
  text.includes("defineError") ? [...text.matchAll(DEFINED)].map(([, code = ""]) => code) : [],
);
const page = readFileSync("docs/errors.md", "utf8");
const listed = [...page.matchAll(/^\| ([A-Z]{3}-\d{3}) \|/gm)].map(([, code = ""]) => code);

describe("docs/errors.md", () => {
  it("has every error that the code defines, and no other", () => {
    expect(defined.length).toBeGreaterThan(300);
    expect([...defined].sort()).toEqual([...listed].sort());
  });

  it.each([
    ["a parameter", (p: Params) => `no ${p.name}`, "no {name}"],
    ["a list", (p: Params) => p.list.map((one) => `'${one}'`).join(", "), "{list}"],
    ["JSON", (p: Params) => JSON.stringify(p.name), '"{name}"'],
    [
      "arithmetic",
      (p: Params) => `${Math.floor(p.bytes / 2 ** 20)} MiB in ${p.ms / 1000} s`,
      "{bytes} MiB in {ms} s",
    ],
    ["a member of a member", (p: Params) => `at ${p.deep.place.line}`, "at {deep}"],
  ])("shows %s by its name", (_, message, expected) => {
    expect(messageText({ code: "TST-001", message })).toBe(expected);
  });

  it("refuses what would print something else", () => {
    const source = (p: Params) => `of ${p.name === "x" ? "" : String(undefined)}`;
    expect(() => messageText({ code: "TST-001", message: source })).toThrow(/TST-001 is garbled.*undefined/);
    const sum = (p: Params) => `1 of ${p.bytes + p.ms} failed`;
    expect(() => messageText({ code: "TST-001", message: sum })).toThrow(
      /TST-001 is garbled.*\{bytes\}\{ms\}/,
    );
  });
});

interface Params {
  readonly name: string;
  readonly list: readonly string[];
  readonly bytes: number;
  readonly ms: number;
  readonly deep: { readonly place: { readonly line: number } };
}
