import { SlipwayError } from "@slipway/kernel/errors";
import { EVEN_GROWTH, growth } from "@slipway/testkit/growth";
import { tries } from "@slipway/testkit/tries";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BadYaml, YamlTooBig } from "./errors.ts";
import { parseYaml, writeYaml } from "./yaml.ts";

const value = (scalar: string): unknown => (parseYaml(`k: ${scalar}\n`, "m.yml") as { k: unknown }).k;

function failure(text: string): SlipwayError {
  try {
    parseYaml(text, "m.yml");
  } catch (error) {
    if (error instanceof SlipwayError) return error;
    throw error;
  }
  throw new Error("it was accepted");
}

describe("scalars as Psych reads them", () => {
  const table: [string, unknown][] = [
    ...["yes", "Yes", "YES", "true", "on", "On"].map((s): [string, unknown] => [s, true]),
    ...["no", "No", "NO", "false", "off", "OFF"].map((s): [string, unknown] => [s, false]),
    ["y", "y"],
    ["n", "n"],
    ["0644", 420],
    ["0o10", "0o10"],
    ["10_240", 10240],
    ["1,000", 1000],
    ["+12", 12],
    ["-0", 0],
    ["0x1F", 31],
    ["-0b11", -3],
    ["1e3", "1e3"],
    ["1.5e3", "1.5e3"],
    ["1.5e+3", 1500],
    ["1.10", 1.1],
    ["1.", 1],
    [".5", 0.5],
    [".", "."],
    ["08", "08"],
    ["1.2.3", "1.2.3"],
    ["10.0.0.1", "10.0.0.1"],
    ["~", null],
    ["null", null],
    ["", null],
    ["'yes'", "yes"],
    ['"12"', "12"],
    ["!!str 12", "12"],
    [":sym", ":sym"],
    ["=", "="],
  ];
  it.each(table)("%s", (source, expected) => expect(value(source)).toStrictEqual(expected));

  it.each(["1:30", "190:20:30", "2001-12-14", "2001-12-14 21:59:43.10 -5"])(
    "%s stays text, as the CLI sends it",
    (source) => expect(value(source)).toBe(source),
  );

  it.each([
    ["12345678901234567890", "12345678901234567890"],
    ["-9_007_199_254_740_993", "-9007199254740993"],
    ["0xFFFFFFFFFFFFFFFFFF", "0xFFFFFFFFFFFFFFFFFF"],
    ["9007199254740991", 9007199254740991],
  ])("the whole number %s keeps every digit", (source, expected) => expect(value(source)).toBe(expected));
});

describe("maps", () => {
  it.each([
    ["merge before the key: the key wins", "b: &b {x: 1, y: 1}\nc:\n  <<: *b\n  x: 2\n", { x: 2, y: 1 }],
    ["merge after the key: the merge wins", "b: &b {x: 1, y: 1}\nc:\n  x: 2\n  <<: *b\n", { x: 1, y: 1 }],
    [
      "a list of merges: the first wins",
      "a: &a {x: 1}\nb: &b {x: 2, z: 3}\nc: {<<: [*a, *b]}\n",
      { x: 1, z: 3 },
    ],
    ["a quoted << is a key", 'c: {"<<": 1}', { "<<": 1 }],
    ["a key twice: the last wins", "c: {x: 1, x: 2}", { x: 2 }],
    ["y is a key like any other", "c: {y: 1, n: 2, 8080: 3, ~: 4}", { y: 1, n: 2, 8080: 3, "": 4 }],
    ["an anchor given twice", "a: &x 1\nb: &x 2\nc: {v: *x}", { v: 2 }],
  ])("%s", (_, text, expected) => {
    expect((parseYaml(text, "m.yml") as { c: unknown }).c).toEqual(expected);
  });

  it("a %YAML 1.2 line changes nothing", () =>
    expect(parseYaml("%YAML 1.2\n---\na: yes", "m")).toEqual({ a: true }));

  it("copies of an alias are apart", () => {
    const { a, b } = parseYaml("a: &a {x: [1]}\nb: *a", "m") as { a: { x: number[] }; b: { x: number[] } };
    a.x.push(2);
    expect(b.x).toEqual([1]);
  });

  it("nothing is found in a map that was not written there", () => {
    const map = parseYaml("constructor: 1\na: {}", "m") as Record<string, Record<string, unknown>>;
    expect(Object.getPrototypeOf(map)).toBeNull();
    expect(map.constructor).toBe(1);
    expect(map.a?.toString).toBeUndefined();
  });
});

describe("what is refused says where and what to do, and quotes nothing", () => {
  it.each([
    ["a tab", "a:\n\tsecret: 1", 2],
    ["an open bracket", "a: [secret\n", 2],
    ["an open quote", 'x: 1\na: "secret', 2],
    ["two values", "a: b: secret", 1],
    ["a bad first character", "a: @secret", 1],
    ["an unknown alias", "x: 1\na: *secret", 2],
    ["a circle", "a: &secret [*secret]", 1],
    ["a tag", "a: !ruby/object:Secret {secret: 1}", 1],
    ["binary", "a: !!binary c2VjcmV0", 1],
    ["two documents", "a: 1\n---\nsecret: 2", 2],
    ["a map as key", "? {secret: 1}\n: 2", 1],
    ["infinity", "x: 1\n\na: .inf # secret", 3],
    ["a merge of a number", "<<: 3 # secret", 1],
    ["__proto__", "a:\n  __proto__: {secret: 1}", 2],
    ["__proto__ by merge", 'a: &a {"__proto__": {secret: 1}}\nb: {<<: *a}', 1],
    ["a control character", "a: 1\nb: \u0001secret", 2],
    ["an escaped NUL", 'a: "secret\\0"', 1],
    ["half a character", 'a: "secret\\ud800"', 1],
    ["a list that becomes a map", "- secret\nb: 2", 2],
  ])("%s", (_, text, line) => {
    const error = failure(text);
    expect(BadYaml.is(error)).toBe(true);
    expect(error.message).toMatch(new RegExp(`^m\\.yml, line ${line}, column [1-9]\\d*: .+\\. .+\\.$`));
    expect(error.message).not.toContain("secret");
  });
  it("prototypes are as before", () => expect(({} as Record<string, unknown>).secret).toBeUndefined());
});

describe("hostile sizes end soon", () => {
  const laughs = ["a: &a [x, x, x, x, x, x, x, x, x]"];
  for (const [i, name] of [..."bcdefghij"].entries()) {
    laughs.push(`${name}: &${name} [${Array(9).fill(`*${"abcdefghij"[i]}`).join(", ")}]`);
  }
  it.each([
    ["billion laughs", laughs.join("\n"), BadYaml],
    ["a long string many times", `a: &a ${"x".repeat(1_000_000)}\nb: [${"*a, ".repeat(1000)}*a]`, BadYaml],
    ["10 MB of small items", `a:\n${"- name: web\n  x: 1\n".repeat(520_000)}`, YamlTooBig],
    ["20 MB of text", `a: ${"x".repeat(20_000_000)}`, YamlTooBig],
    ["a million closing brackets", "]".repeat(1_000_000), YamlTooBig],
    ["lists in lists, in one line", "[".repeat(100_000), BadYaml],
    ["lists in lists, as block", "- ".repeat(100_000), BadYaml],
    ["keys of keys", "? ".repeat(100_000), BadYaml],
    ["maps in maps", Array.from({ length: 400 }, (_, i) => `${" ".repeat(i)}a:`).join("\n"), BadYaml],
  ] as const)("%s", (_, text, kind) => expect(kind.is(failure(text))).toBe(true));

  it.each([
    ["0x", "0"],
    ["0", "7"],
    ["0b", "1"],
    ["0x", "_"],
    ["1", ","],
    ["", "1"],
  ])("text that begins as the number %s%s... costs as much as it is long", async (prefix, digit) => {
    const cost = await growth((n) => parseYaml(`a: ${prefix}${digit.repeat(n * 50_000)}z`, "m"));
    expect(cost).toBeLessThan(EVEN_GROWTH);
  });

  it("merges of merges cost no more than a document of the greatest size", () => {
    const chain = (depth: number) => {
      const lines = ["a0: &a0 {x: 1, y: 2, z: 3}"];
      for (let i = 1; i <= depth; i++) {
        lines.push(
          `a${i}: &a${i} {<<: [${Array(6)
            .fill(`*a${i - 1}`)
            .join(", ")}]}`,
        );
      }
      return lines.join("\n");
    };
    expect(parseYaml(chain(4), "m")).toMatchObject({ a4: { x: 1, y: 2, z: 3 } });
    expect(failure(chain(9)).message).toContain("its aliases multiply");
  });

  it("10 MB of certificates are read", () => {
    const text = `k: |\n${`  ${"A".repeat(64)}\n`.repeat(150_000)}`;
    expect((parseYaml(text, "m") as { k: string }).k).toHaveLength(65 * 150_000);
  });

  it("any text is a value or an error of ours", () => {
    const noise = fc.array(
      fc.constantFrom(
        "a",
        ": ",
        "- ",
        "\n",
        "  ",
        "[",
        "]",
        "{",
        "}",
        "&x ",
        "*x",
        "<<",
        "!!",
        "|",
        ">",
        "'",
        '"',
        "#",
        ",",
        "? ",
        "%",
        "---",
        "1",
        "\t",
        "\\",
      ),
      { maxLength: 40 },
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          noise.map((parts) => parts.join("")),
        ),
        (text) => {
          try {
            parseYaml(text, "m");
          } catch (error) {
            expect(error).toBeInstanceOf(SlipwayError);
          }
        },
      ),
      { numRuns: tries(2000) },
    );
  });
});

describe("writing", () => {
  const traps = [
    "yes",
    "y",
    "1_000",
    "1,000",
    "1:30",
    "2001-12-14",
    "0644",
    "1e3",
    ".inf",
    "null",
    "~",
    ":sym",
    "<<",
    "=",
    "a: b",
    "# x",
    "- x",
    " x ",
    "",
    "x\ny\n",
    "12345678901234567890",
    "0o10",
    "@x",
    "%x",
    "é\u{1f600}",
    "a \u0085 \u2028 b",
  ];
  it("ends of lines of other readers are escapes", () =>
    expect(writeYaml("a \u0085 \u2028 b")).toBe('"a \\u0085 \\u2028 b"\n'));

  it.each(traps)("the string %j comes back, alone, as item and as key", (trap) => {
    for (const document of [{ k: trap }, { k: [trap] }, { [trap]: 1 }]) {
      expect(parseYaml(writeYaml(document), "m")).toEqual(document);
    }
  });

  it("any document comes back", () => {
    const text = fc
      .oneof(fc.string({ unit: "grapheme" }), fc.constantFrom(...traps))
      .filter((s) => !s.includes("\0"));
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        text,
        fc.boolean(),
        fc.constant(null),
        fc.maxSafeInteger().map((n) => n + 0),
        fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => n + 0),
        fc.array(tie("tree"), { maxLength: 4 }),
        fc.dictionary(
          text.filter((key) => key !== "__proto__"),
          tie("tree"),
          { maxKeys: 4 },
        ),
      ),
    }));
    fc.assert(
      fc.property(tree, (document) => {
        expect(parseYaml(writeYaml(document), "m")).toEqual(document);
      }),
      { numRuns: tries(500) },
    );
  });
});
