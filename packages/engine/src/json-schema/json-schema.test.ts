import type { Json } from "@slipway/protocol/schema/json";
import { CA } from "@slipway/testkit/certificates";
import { describe, expect, it } from "vitest";
import { jobSchemaProblems } from "./job-schema.ts";
import { schemaProblems } from "./validate.ts";

/** A schema, what it allows, and what it does not with the words for it. */
const CASES: readonly [what: string, schema: Json, good: readonly Json[], bad: readonly [Json, string][]][] =
  [
    ["true", true, [1, null], []],
    ["false", false, [], [[1, "value at root does not match schema"]]],
    ["a remark", { title: "t", $comment: "c", default: 1, examples: [] }, ["anything"], []],
    [
      "a type",
      { type: "integer" },
      [1, 1.0],
      [
        [1.5, "value at root is not an integer"],
        ["1", "value at root is not an integer"],
      ],
    ],
    [
      "types",
      { type: ["string", "null"] },
      ["", null],
      [[1, 'value at root is not one of the types: ["string","null"]']],
    ],
    ["enum", { enum: [1, { a: [2] }] }, [1, { a: [2] }], [[2, 'value at root is not one of: [1,{"a":[2]}]']]],
    ["const", { const: null }, [null], [[0, "value at root is not: null"]]],
    [
      "bounds",
      { minimum: 1, exclusiveMaximum: 3 },
      [1, 2.9, "0"],
      [
        [0, "number at root is less than: 1"],
        [3, "number at root is greater than or equal to: 3"],
      ],
    ],
    ["multiples", { multipleOf: 0.1 }, [0.3, 1], [[0.25, "number at root is not a multiple of: 0.1"]]],
    [
      "lengths",
      { minLength: 2, maxLength: 2 },
      ["ab", "🙂🙂", 7],
      [
        ["a", "string length at root is less than: 2"],
        ["abc", "string length at root is greater than: 2"],
      ],
    ],
    [
      "a pattern",
      { pattern: "^a.c" },
      ["abcd", 1],
      [["xabc", "string at root does not match pattern: ^a.c"]],
    ],
    ["no pattern", { pattern: "(" }, [1], [["a", "the schema's pattern is no regular expression: ("]]],
    [
      "formats",
      { format: "ipv4" },
      ["10.0.0.1", 5],
      [["10.0.0", "value at root does not match format: ipv4"]],
    ],
    ["an unknown format", { format: "colour" }, ["blue"], []],
    [
      "properties",
      { properties: { a: { type: "string" } } },
      [{ a: "x", b: 1 }, []],
      [[{ a: 1 }, "value at `/a` is not a string"]],
    ],
    [
      "names with slashes",
      { properties: { "a/b~": false } },
      [{}],
      [[{ "a/b~": 1 }, "value at `/a~1b~0` does not match schema"]],
    ],
    [
      "required",
      { required: ["a", "b"] },
      [{ a: 1, b: null }],
      [[{}, "object at root is missing required properties: a, b"]],
    ],
    [
      "others",
      {
        properties: { a: true },
        patternProperties: { "^x-": { type: "number" } },
        additionalProperties: false,
      },
      [{ a: 1, "x-b": 2 }],
      [
        [{ c: 1 }, "object property at `/c` is a disallowed additional property"],
        [{ "x-b": "" }, "value at `/x-b` is not a number"],
      ],
    ],
    [
      "others of a kind",
      { additionalProperties: { type: "number" } },
      [{ a: 1 }],
      [[{ a: "" }, "value at `/a` is not a number"]],
    ],
    [
      "property names",
      { propertyNames: { maxLength: 1 } },
      [{ a: 1 }],
      [[{ ab: 1 }, "string length at `/ab` is greater than: 1"]],
    ],
    [
      "how many properties",
      { minProperties: 1, maxProperties: 1 },
      [{ a: 1 }],
      [[{}, "object size at root is less than: 1"]],
    ],
    [
      "what one property asks of others",
      { dependentRequired: { a: ["b"] }, dependentSchemas: { c: { required: ["d"] } } },
      [{ a: 1, b: 1 }, {}],
      [
        [{ a: 1 }, "object at root is missing required properties: b"],
        [{ c: 1 }, "object at root is missing required properties: d"],
      ],
    ],
    [
      "items",
      { prefixItems: [{ type: "string" }], items: { type: "number" } },
      [["a", 1, 2], []],
      [
        [[1], "value at `/0` is not a string"],
        [["a", "b"], "value at `/1` is not a number"],
      ],
    ],
    [
      "how many items",
      { minItems: 1, maxItems: 2, uniqueItems: true },
      [[1, 2]],
      [
        [[], "array size at root is less than: 1"],
        [
          [
            { a: 1, b: 2 },
            { b: 2, a: 1 },
          ],
          "array items at root are not unique",
        ],
      ],
    ],
    [
      "contains",
      { contains: { type: "string" }, maxContains: 1 },
      [["a", 1]],
      [
        [[1], "array at root does not contain enough items that match `contains` schema"],
        [["a", "b"], "array at root contains too many items that match `contains` schema"],
      ],
    ],
    ["all of", { allOf: [{ minimum: 1 }, { maximum: 2 }] }, [1], [[3, "number at root is greater than: 2"]]],
    [
      "any of",
      { anyOf: [{ type: "string" }, { type: "null" }] },
      ["", null],
      [[1, "value at root does not match any `anyOf` schemas"]],
    ],
    [
      "one of",
      { oneOf: [{ minimum: 1 }, { maximum: 2 }] },
      [0, 3],
      [[1, "value at root matches more than one `oneOf` schema"]],
    ],
    ["not", { not: { type: "null" } }, [1], [[null, "value at root matches `not` schema"]]],
    [
      "if",
      JSON.parse('{"if":{"required":["a"]},"then":{"required":["b"]},"else":{"required":["c"]}}') as Json,
      [{ a: 1, b: 1 }, { c: 1 }],
      [
        [{ a: 1 }, "object at root is missing required properties: b"],
        [{}, "object at root is missing required properties: c"],
      ],
    ],
    [
      "what nobody spoke of",
      { allOf: [{ properties: { a: true } }], unevaluatedProperties: false },
      [{ a: 1 }],
      [[{ b: 1 }, "object property at `/b` is a disallowed unevaluated property"]],
    ],
    [
      "items that nobody spoke of",
      { prefixItems: [true], unevaluatedItems: false },
      [[1]],
      [[[1, 2], "array item at `/1` is a disallowed unevaluated item"]],
    ],
    [
      "definitions",
      { $defs: { port: { type: "integer" } }, properties: { a: { $ref: "#/$defs/port" } } },
      [{ a: 1 }],
      [[{ a: "" }, "value at `/a` is not an integer"]],
    ],
    [
      "anchors, and its own id",
      {
        $id: "urn:x",
        $defs: { p: { $anchor: "here", type: "null" } },
        properties: { a: { $ref: "urn:x#here" } },
      },
      [{ a: null }],
      [[{ a: 1 }, "value at `/a` is not null"]],
    ],
    [
      "itself",
      { properties: { next: { $ref: "#" }, n: { type: "number" } } },
      [{ next: { next: { n: 1 } } }],
      [[{ next: { next: { n: "" } } }, "value at `/next/next/n` is not a number"]],
    ],
    [
      "references to elsewhere",
      { $ref: "https://elsewhere/schema" },
      [],
      [[1, "the schema speaks of 'https://elsewhere/schema', which is not in it"]],
    ],
    ["references without end", { $ref: "#" }, [], [[1, "value at root is nested too deeply"]]],
  ];

describe("a schema", () => {
  it.each(CASES)("allows what fits, and says what does not and where: %s", (_, schema, good, bad) => {
    expect(good.map((value) => schemaProblems(schema, value))).toEqual(good.map(() => []));
    expect(bad.map(([value]) => schemaProblems(schema, value)[0])).toEqual(bad.map(([, words]) => words));
  });

  it("tells all mistakes, and no value: it may be a secret", () => {
    const schema = { properties: { a: { type: "integer" }, b: { pattern: "^x" }, c: { const: "d" } } };
    const found = schemaProblems(schema, { a: "hunter2", b: "hunter2", c: "hunter2" });
    expect(found).toHaveLength(3);
    expect(found.join()).not.toContain("hunter2");
  });

  it("may ask for a certificate, or none", () => {
    const asked = (value: Json) => schemaProblems({ type: "certificate" }, value);
    expect([asked(""), asked(CA)]).toEqual([[], []]);
    expect([asked("no"), asked(1)]).toEqual(Array(2).fill(["value at root is not a certificate"]));
  });
});

describe("the schema of a job", () => {
  const DRAFT = "https://json-schema.org/draft/2020-12/schema";

  it("must say by which draft it is written, and there is one", () => {
    expect(jobSchemaProblems({}, {})).toEqual(["You must declare your $schema draft version"]);
    expect(jobSchemaProblems({ $schema: "http://json-schema.org/draft-07/schema#" }, {})).toEqual([
      `Only ${DRAFT} schema is currently supported`,
    ]);
    expect(jobSchemaProblems({ $schema: DRAFT }, {})).toEqual([]);
  });
});
