import { tries } from "@slipway/testkit/tries";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BadJson, MAX_DEPTH, parseStrictJson } from "./strict-json.ts";

const parse = (source: string) => parseStrictJson(source, "the request");

/** The message of the refusal; fails the test when the source is taken or something else is thrown. */
function refusal(source: string): string {
  try {
    parse(source);
  } catch (error) {
    if (BadJson.is(error)) return error.message;
    throw error;
  }
  throw new Error("it was accepted");
}

const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);

describe("strict JSON refuses", () => {
  it.each(["", " ", "\n\t\r\n "])("an empty document (%j), saying that it is empty", (source) => {
    expect(refusal(source)).toBe("the request is not acceptable JSON: it is empty");
  });

  it("a document cut off at any place", () => {
    const whole = '{"method":"info","arguments":[1,"a\\"b",{"x":null}],"context":{"director_uuid":"d"}}';
    expect(parse(whole)).toEqual(JSON.parse(whole));
    for (let length = 0; length < whole.length; length++) refusal(whole.slice(0, length));
  });

  it.each([
    ["a byte order mark", '\ufeff{"a":1}'],
    ["NUL bytes", "\u0000\u0000"],
    ["control characters inside a string", '{"a":"\u0001"}'],
    ["decoded binary", Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x00, 0x80]).toString("utf8")],
    ["two documents", '{"a":1}{"b":2}'],
    ["a trailing comma", '{"a":1,}'],
    ["a comment", '{"a":1} // note'],
    ["single quotes", "{'a':1}"],
    ["NaN", "NaN"],
    ["an unpaired closing bracket", "]]]]"],
  ])("%s", (_, source) => {
    expect(refusal(source)).toContain("the request is not acceptable JSON");
  });

  it("nesting of a hundred thousand without exhausting the stack, open or closed, array or object", () => {
    const deep = `it is nested more than ${MAX_DEPTH} deep`;
    expect(refusal(nested(100_000))).toContain(deep);
    expect(refusal("[".repeat(100_000))).toContain(deep);
    expect(refusal('{"a":'.repeat(100_000))).toContain(deep);
    expect(refusal(`${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`)).toContain(deep);
  });

  it("one level more than it allows, and takes the last it allows", () => {
    expect(parse(nested(MAX_DEPTH))).toBeInstanceOf(Array);
    refusal(nested(MAX_DEPTH + 1));
  });

  it.each([
    ["plainly", '{"a":1,"a":2}'],
    ["with other values between", '{"a":1,"b":{"a":1},"a":2}'],
    ["written with an escape", '{"a":1,"\\u0061":2}'],
    ["with space before the colon", '{"a" :1, "a"\n:2}'],
    ["in a nested object", '[[{"x":[{"a":1,"a":1}]}]]'],
    ["after a string with quotes and braces", '{"a":"\\"}{","b":"\\\\","a":2}'],
  ])("a key given twice %s, naming it", (_, source) => {
    expect(refusal(source)).toContain('the key "a" stands twice in one object');
  });

  it("an empty key given twice, and a key that cannot be printed, without printing it", () => {
    expect(refusal('{"":1,"":2}')).toContain("(unprintable)");
    expect(refusal('{"\\u0007 bell":1,"\\u0007 bell":2}')).toContain("(unprintable)");
  });

  it.each(['{"__proto__":{"x":1}}', '[{"a":{"\\u005f_proto__":null}}]'])(
    "a __proto__ key in %s",
    (source) => {
      expect(refusal(source)).toContain("it has a __proto__ key");
      expect(({} as { x?: unknown }).x).toBeUndefined();
    },
  );

  it("everything without quoting the document", () => {
    const secret = "hunter2-canary";
    for (const source of [`{"password":"${secret}"`, secret, `{"a":"${secret}","a":1}`, `["${secret}",]`])
      expect(refusal(source)).not.toContain(secret);
  });
});

describe("strict JSON takes", () => {
  it("the same key in different objects", () => {
    const source = '[{"a":1},{"a":2,"b":{"a":3}},{"b":[{"a":4},{"a":5}]}]';
    expect(parse(source)).toEqual(JSON.parse(source));
  });

  it("strings in arrays that look like keys, and values equal to keys", () => {
    const source = '{"list":["a","a","a:","\\":"],"a":"a","b":"a"}';
    expect(parse(source)).toEqual(JSON.parse(source));
  });

  it("keys that differ, however alike", () => {
    const source = '{"a":1,"A":2," a":3,"a ":4,"\\u0061\\u0301":5,"\\u00e1":6,"constructor":7}';
    expect(parse(source)).toEqual(JSON.parse(source));
  });

  it("scalars, and space around a document", () => {
    expect(parse(' \n "x" \n')).toBe("x");
    expect(parse("null")).toBeNull();
    expect(parse("-1.5e3")).toBe(-1500);
  });

  it("a document of several megabytes", () => {
    const rows = Array.from({ length: 40_000 }, (_, i) => ({
      id: `vm-${i}`,
      tags: { n: i, text: 'a "b" {c}' },
    }));
    const source = JSON.stringify({ rows });
    expect(source.length).toBeGreaterThan(2_000_000);
    expect(parse(source)).toEqual({ rows });
  });
});

describe("for any input", () => {
  const isProto = (text: string) => text.includes("__proto__");

  it("a value written as JSON is read as the same value", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom(undefined, 2), (value, indent) => {
        const source = JSON.stringify(value, undefined, indent);
        fc.pre(!isProto(source));
        expect(JSON.stringify(parse(source))).toBe(JSON.stringify(value));
      }),
    );
  });

  it("text, arbitrary or nearly JSON, is either refused as such or read as JSON.parse reads it", () => {
    const nearly = fc
      .tuple(fc.json(), fc.nat(), fc.string({ maxLength: 3 }))
      .map(
        ([json, at, junk]) =>
          json.slice(0, at % (json.length + 1)) + junk + json.slice(at % (json.length + 1)),
      );
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.string({ unit: "binary" }), nearly), (source) => {
        let value: unknown;
        try {
          value = parse(source);
        } catch (error) {
          expect(BadJson.is(error)).toBe(true);
          return;
        }
        expect(JSON.stringify(value)).toBe(JSON.stringify(JSON.parse(source)));
      }),
      { numRuns: tries(500) },
    );
  });

  it("an object with one of its keys repeated is refused", () => {
    const object = fc.dictionary(
      fc.string().filter((key) => !isProto(key)),
      fc.jsonValue({ maxDepth: 2 }),
      { minKeys: 1 },
    );
    fc.assert(
      fc.property(object, fc.nat(), (value, pick) => {
        const keys = Object.keys(value);
        const source = JSON.stringify(value);
        fc.pre(!isProto(source));
        const again = `${source.slice(0, -1)},${JSON.stringify(keys[pick % keys.length])}:0}`;
        expect(refusal(again)).toContain("stands twice");
      }),
    );
  });
});
