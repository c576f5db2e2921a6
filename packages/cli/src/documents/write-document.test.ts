import { parseYaml } from "@slipway/engine/documents/yaml";
import { tries } from "@slipway/testkit/tries";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { writeDocument } from "./write-document.ts";

const TRAPS = [
  "y",
  "Off",
  "~",
  "1e3",
  "0o7",
  "1:30",
  "2020-01-01",
  ":s",
  "<<",
  " a",
  "a ",
  "a\n",
  "\n",
  "\ta\n b",
  "- a",
  "a: b",
  "\u2028",
];

describe("a document as text", () => {
  it.each<[string, unknown, string]>([
    ["names and paths stand as they are", { name: "web", path: "/var/vcap" }, "name: web\npath: /var/vcap\n"],
    [
      "so do addresses and versions",
      ["10.0.0.1", "10.0.0.0/24", "1.2.3"],
      "- 10.0.0.1\n- 10.0.0.0/24\n- 1.2.3\n",
    ],
    ["so do placeholders", { a: "((x))", b: "https://((y)):1" }, "a: ((x))\nb: https://((y)):1\n"],
    [
      "what would be read as something else is quoted",
      ["1", "yes", "", "2020-01-01"],
      '- "1"\n- "yes"\n- ""\n- "2020-01-01"\n',
    ],
    ["several lines are a block", { key: "a\nb\n", last: "a\nb" }, "key: |\n  a\n  b\nlast: |-\n  a\n  b\n"],
    ["lists stand under their key", { a: [{ b: 1, c: [] }] }, "a:\n- b: 1\n  c: []\n"],
    ["numbers, true and nothing", [1, 0.5, true, null], "- 1\n- 0.5\n- true\n- null\n"],
    ["long text is not folded", `a${" word".repeat(60)}`, `a${" word".repeat(60)}\n`],
  ])("%s", (_, value, text) => expect(writeDocument(value)).toBe(text));

  it("keys are sorted, numbers in them by their size, letters last", () => {
    const keys = ["b", "a10", "a2", "B", "_x", "a-b", "ab", "10", "9", "a", "é"];
    const text = writeDocument(Object.fromEntries(keys.map((key) => [key, 0])));
    const order = text.match(/^[^:]+/gm)?.map((key) => key.replaceAll('"', ""));
    expect(order).toEqual(["9", "10", "_x", "B", "a", "a-b", "a2", "a10", "ab", "b", "é"]);
  });

  it("comes back as it was, and is the same text whatever the order of keys", () => {
    const text = fc
      .oneof(fc.string({ unit: "grapheme" }), fc.constantFrom(...TRAPS))
      .filter((s) => !/[\0\ud800-\udfff]/u.test(s));
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        text,
        fc.boolean(),
        fc.constant(null),
        fc.maxSafeInteger().map((n) => n + 0),
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
        const written = writeDocument(document);
        expect(parseYaml(written, "it")).toEqual(document);
        expect(writeDocument(turned(document))).toBe(written);
      }),
      { numRuns: tries(500) },
    );
  });
});

function turned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(turned);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, item]) => [key, turned(item)]),
  );
}
