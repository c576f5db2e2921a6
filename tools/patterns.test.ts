import { EVEN_GROWTH, growth } from "@slipway/testkit/growth";
import { describe, expect, it } from "vitest";

// Tools that Node runs as they are; their types are here.
const { superlinear } = (await import(new URL("./linear.mjs", import.meta.url).href)) as {
  superlinear(source: string, flags: string): string | undefined;
};
const { problemsOf } = (await import(new URL("./patterns.mjs", import.meta.url).href)) as {
  problemsOf(file: string, text: string): readonly string[];
};

/** A pattern, and text of a length on which it takes its worst time. */
const PLANTED: readonly [RegExp, (size: number) => string][] = [
  [/^[-+]?0x[0-9a-fA-F_]*[0-9a-fA-F][0-9a-fA-F_]*$/, (n) => `0x${"0".repeat(n)}z`],
  [/\s+$/, (n) => `${" ".repeat(n)}x`],
  [/^(.*?)\s*$/, (n) => `${" ".repeat(n)}\n`],
  [/^\s*(\d{1,9})\s*(%?)\s*$/, (n) => `1${" ".repeat(n)}x`],
  [/<[^>]*>/g, (n) => "<".repeat(n)],
  [/^(?:.*,)?.*;$/, (n) => ",".repeat(n)],
  [/a(?=x*y)/g, (n) => `a${"x".repeat(60)}`.repeat(n / 61) + "x".repeat(n)],
];

const EXPONENTIAL = [/^(?:a+)+$/, /^(?:a|a)*$/, /^(?:a*)*b/, /^(?:\w+\s?)*$/, /^(?:a?)*b/];

const LINEAR = [
  /^[-+]?0x_*[0-9a-fA-F][0-9a-fA-F_]*$/,
  /^[-0-9A-Za-z_+.]{1,255}$/,
  /\d+/g,
  /"[^"]*"/g,
  /".*?"/g,
  /^(?:[a-z]+\.)*[a-z]+$/,
  /^\/dev\/(?!.*\.\.)[\w.:+@/-]+$/,
  /[_,]/g,
  /-----BEGIN X-----[^-]*-----END X-----/g,
];

describe("a pattern is called linear", () => {
  it.each(LINEAR.map((pattern) => [pattern]))("%s: yes", (pattern) => {
    expect(superlinear(pattern.source, pattern.flags)).toBeUndefined();
  });

  it.each(EXPONENTIAL.map((pattern) => [pattern]))("%s: no, it is exponential", (pattern) => {
    expect(superlinear(pattern.source, pattern.flags)).toMatch(/exponential|may be empty/);
  });

  it.each(PLANTED.map(([pattern]) => [pattern]))("%s: no", (pattern) => {
    expect(superlinear(pattern.source, pattern.flags)).toMatch(/quadratic|at every place/);
  });

  it("by a proof that agrees with what is measured", async () => {
    const [pattern, text] = PLANTED[0] ?? [/x/, () => ""];
    const [mended] = LINEAR;
    expect(await growth((n) => pattern.test(text(n * 2000)))).toBeGreaterThan(EVEN_GROWTH);
    expect(await growth((n) => mended?.test(text(n * 500_000)))).toBeLessThan(EVEN_GROWTH);
  });
});

describe("in a source", () => {
  const bad = String.raw`/\s+$/`;
  it.each([
    ["after a bracket", `x.replace(${bad}, "")`],
    ["after return", `return ${bad}.test(x)`],
    ["inside a template", `\`a \${x.replace(${bad}, "")} b\``],
    ["after a division and a comment", `a / b; // it's / "\nc(${bad})`],
  ])("a planted one is found %s", (_, code) => {
    expect(problemsOf("packages/x/src/y.ts", `const a = 1;\n${code}\n`)).toHaveLength(1);
  });

  it("what only looks like one is none", () => {
    const code = `"${bad}"; '/\\s+$/'; // ${bad}\n/* ${bad} */ const d = a / s + $ / 2; \`${bad}\``;
    expect(problemsOf("packages/x/src/y.ts", code)).toEqual([]);
  });

  it("one that is made of text must be looked at", () => {
    expect(problemsOf("packages/x/src/y.ts", "new RegExp(text)")).toHaveLength(1);
  });
});
