import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BadVariableValue, VariablesMissing } from "./errors.ts";
import { interpolate, interpolateAll, lookUpIn } from "./variables.ts";

const variables = {
  port: 8080,
  host: "db.internal",
  flag: false,
  nothing: null,
  list: ["a", { b: "c" }],
  tls: { ca: "PEM", "1": "one" },
  again: "((host))",
  "/abs/name": "absolute",
  "é-t": "accent",
  ratio: 0.5,
};
const lookUp = lookUpIn(variables);
const put = (document: unknown) => interpolate(document, lookUp);

describe("interpolation as the CLI does it", () => {
  it.each<[string, unknown, unknown]>([
    ["a whole scalar keeps the type", "((port))", 8080],
    ["also false", "((flag))", false],
    ["also null", "((nothing))", null],
    ["also a map", "((tls))", { ca: "PEM", "1": "one" }],
    ["blanks inside a whole scalar", "(( port ))", 8080],
    ["blanks inside longer text are not seen", "x(( port ))", "x(( port ))"],
    ["inside text", "http://((host)):((port))/", "http://db.internal:8080/"],
    ["a path into a map", "((tls.ca))", "PEM"],
    ["a number as key of a map", "((tls.1))", "one"],
    ["a path through a list", "((list.1.b))", "c"],
    ["a path from the end of a list", "((list.-2))", "a"],
    ["a leading !", "((!port))-((!host))", "8080-db.internal"],
    ["a whole scalar with !", "((!port))", 8080],
    ["an absolute name", "((/abs/name))", "absolute"],
    ["letters of any language", "((é-t))", "accent"],
    ["keys", { "((host))": { "p((port))": 1 } }, { "db.internal": { p8080: 1 } }],
    ["what a variable holds is not looked at again", "((again))", "((host))"],
    ["items", ["((port))", 3, true], [8080, 3, true]],
    ["no placeholder", "((a b)) (c) ((", "((a b)) (c) (("],
  ])("%s", (_, document, expected) => {
    expect(put(document)).toMatchObject({ missing: [] });
    expect(put(document).value).toEqual(expected);
  });

  it("keeps an unknown variable, and lists it once", () => {
    const done = put({
      a: "((no))",
      b: "x((no))((!other.path))",
      c: "((host))",
      toString: "((constructor))",
    });
    expect(done.value).toEqual({
      a: "((no))",
      b: "x((no))((!other.path))",
      c: "db.internal",
      toString: "((constructor))",
    });
    expect(done.missing).toEqual(["constructor", "no", "other.path"]);
    expect([...done.used]).toEqual(["host"]);
  });

  it.each<[string, unknown]>([
    ["a map inside text", "x((tls))"],
    ["false inside text", "x((flag))"],
    ["a decimal inside text", "x((ratio))"],
    ["a path to nothing", "((tls.key))"],
    ["a path into a string", "((host.length))"],
    ["a path to what maps inherit", "((tls.constructor))"],
    ["an index outside", "((list.7))"],
    ["an index before the first", "((list.-3))"],
    ["a map as key", { "((tls))": 1 }],
  ])("%s is refused with its place", (_, value) => {
    try {
      put({ deep: [value] });
      expect.unreachable();
    } catch (error) {
      expect(BadVariableValue.is(error)).toBe(true);
      expect(String(error)).toContain("deep[0]");
      expect(String(error)).not.toContain("PEM");
    }
  });

  it("a key cannot become __proto__", () => {
    expect(() => interpolate({ "((k))": { x: 1 } }, () => ({ value: "__proto__" }))).toThrow(/__proto__/);
  });

  it("all or nothing, where nothing may stay open", () => {
    expect(interpolateAll({ a: "((port))" }, lookUp)).toEqual({ a: 8080 });
    expect(() => interpolateAll({ a: "((b))((a))" }, lookUp)).toThrow(
      VariablesMissing({ names: ["a", "b"] }).message,
    );
  });

  it("a document without placeholders comes back as it was", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (document) => {
        fc.pre(!JSON.stringify(document).includes("((") && !JSON.stringify(document).includes("__proto__"));
        expect(put(document).value).toEqual(document);
      }),
    );
  });
});
