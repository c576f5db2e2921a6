import type { LookUp } from "@slipway/engine/documents/variables";
import { parseYaml } from "@slipway/engine/documents/yaml";
import { describe, expect, it } from "vitest";
import { evaluate } from "./evaluate.ts";
import type { MissingVariable, VarsStore } from "./store.ts";

/** Keeps what it was asked to make; the value says what it was made from. */
class MemoryStore implements VarsStore {
  readonly made: MissingVariable[] = [];
  readonly values = new Map<string, unknown>();

  find(name: string) {
    return this.values.has(name) ? { value: this.values.get(name) } : undefined;
  }

  names() {
    return [...this.values.keys()];
  }

  generate(wanted: MissingVariable, lookUp: LookUp) {
    this.made.push(wanted);
    lookUp("authority");
    this.values.set(wanted.name, `made ${wanted.name}`);
    return Promise.resolve();
  }
}

const play = async (
  document: string,
  variables: Record<string, unknown> = {},
  kept: Record<string, unknown> = {},
) => {
  const store = new MemoryStore();
  for (const [name, value] of Object.entries(kept)) store.values.set(name, value);
  const result = await evaluate({
    document: parseYaml(document, "m.yml"),
    what: "m.yml",
    ops: [],
    variables,
    store,
  });
  return { ...result, made: store.made };
};

describe("variables a document defines", () => {
  it("are generated in order, used, and no longer defined", async () => {
    const { value, made, missing } = await play(
      "{a: ((p)), b: ((q)), variables: [{name: p, type: password}, {name: q, type: rsa}]}",
    );
    expect(made.map(({ name, type }) => [name, type])).toEqual([
      ["p", "password"],
      ["q", "rsa"],
    ]);
    expect(value).toEqual({ a: "made p", b: "made q", variables: [] });
    expect(missing).toEqual([]);
  });

  it("are generated even if they are not used, but not without a type", async () => {
    const { value, made, missing } = await play("{variables: [{name: p, type: password}, {name: q}]}");
    expect(made.map(({ name }) => name)).toEqual(["p"]);
    expect(value).toEqual({ variables: [{ name: "q" }] });
    expect(missing).toEqual(["q"]);
  });

  it.each([
    ["given", "given", { p: "given" }, {}],
    ["kept", "kept", {}, { p: "kept" }],
    ["given and kept", "given", { p: "given" }, { p: "kept" }],
  ])("are not generated when their value is %s", async (_, expected, given, kept) => {
    const { value, made } = await play("{a: ((p)), variables: [{name: p, type: password}]}", given, kept);
    expect(made).toEqual([]);
    expect(value).toMatchObject({ a: expected });
  });

  it("may use others in their options, also ones defined later", async () => {
    const { made } = await play(
      "{variables: [{name: p, type: certificate, options: {common_name: ((host)), organization: ((q))}}, {name: q, type: password}]}",
      { host: "db" },
    );
    expect(made).toEqual([
      { name: "q", type: "password", options: null },
      { name: "p", type: "certificate", options: { common_name: "db", organization: "made q" } },
    ]);
  });

  it("are not generated when an option is not known", async () => {
    const { value, made, missing } = await play(
      "{a: ((p)), variables: [{name: p, type: password, options: {length: ((n))}}]}",
    );
    expect(made).toEqual([]);
    expect(value).toMatchObject({ a: "((p))", variables: [{ name: "p" }] });
    expect(missing).toEqual(["n", "p"]);
  });

  it("cannot need each other", async () => {
    const document =
      "{variables: [{name: p, type: t, options: {a: ((q))}}, {name: q, type: t, options: {a: ((p))}}]}";
    await expect(play(document)).rejects.toThrow(/Detected recursion.*p -> q -> p/);
  });

  it.each([
    "{variables: {a: 1}}",
    "{variables: [x]}",
    "{variables: [{type: x}]}",
    "{variables: [{name: __proto__}]}",
    "{variables: [{name: x, type: 1}]}",
  ])("%s is refused", (document) => expect(play(document)).rejects.toThrow(/^m\.yml: variables/));

  it("count as used when only a generator asks for them", async () => {
    const { unused } = await play(
      "{variables: [{name: p, type: certificate}]}",
      { authority: 1, extra: 2 },
      { old: 3 },
    );
    expect(unused).toEqual(["extra", "old"]);
  });
});
