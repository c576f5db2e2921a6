import { describe, expect, it } from "vitest";
import { parseCpiConfig } from "./cpi-config.ts";

const problems = (...values: readonly unknown[]) => {
  const parsed = parseCpiConfig(values);
  return parsed.ok ? [] : parsed.problems.map(({ code, where, problem }) => ({ code, where, problem }));
};

describe("a CPI config", () => {
  it("lists CPIs; several are one after the other", () => {
    const first = {
      name: "a",
      type: "x",
      properties: { key: 1 },
      migrated_from: [{ name: "" }, { name: "z" }],
    };
    expect(
      parseCpiConfig([{ cpis: [first] }, { cpis: [{ name: "b", type: "y", exec_path: "/c" }] }]),
    ).toEqual({
      ok: true,
      cpis: [
        { name: "a", type: "x", execPath: undefined, properties: { key: 1 }, migratedFrom: ["", "z"] },
        { name: "b", type: "y", execPath: "/c", properties: {}, migratedFrom: [] },
      ],
    });
  });

  it.each([
    [{}, 40001, "cpis", "Required property 'cpis' was not specified in object"],
    [
      { cpis: [{ type: "x" }] },
      40001,
      "cpis[0].name",
      "Required property 'name' was not specified in object",
    ],
    [
      { cpis: [{ name: "a" }] },
      40001,
      "cpis[a].type",
      "Required property 'type' was not specified in object",
    ],
    [
      { cpis: null },
      40000,
      "cpis",
      "Property 'cpis' value (nothing (null)) did not match the required type 'Array'",
    ],
    [
      { cpis: [{ name: "a", type: "x", properties: [] }] },
      40000,
      "cpis[a].properties",
      "Property 'properties' value (a list) did not match the required type 'Hash'",
    ],
    [{ cpis: [{ name: "a", type: "../x" }] }, 40000, "cpis[a].type", "'../x' is no type of CPI"],
    [
      { cpis: [{ name: "a", type: "x", migrated_from: [{}] }] },
      40001,
      "cpis[a].migrated_from[0].name",
      "Required property 'name' was not specified in object",
    ],
    [[], 440001, "", "a CPI config must be a map, found a list"],
  ])("%j is refused", (value, code, where, problem) => {
    expect(problems(value)).toEqual([{ code, where, problem }]);
  });

  it.each([
    [[{ name: "a" }, { name: "a" }], "a"],
    [[{ name: "a" }, { name: "b", migrated_from: [{ name: "a" }] }], "a"],
    [
      [
        { name: "a", migrated_from: [{ name: "" }] },
        { name: "b", migrated_from: [{ name: "" }] },
      ],
      "",
    ],
  ])("rejects a name that means two CPIs: %j", (list, name) => {
    const cpis = list.map((one) => ({ ...one, type: "x" }));
    expect(problems({ cpis })).toMatchObject([{ code: 550000, problem: `Duplicate cpi name '${name}'` }]);
    // In two configs as well.
    expect(problems({ cpis: cpis.slice(0, 1) }, { cpis: cpis.slice(1) })).toHaveLength(1);
  });

  it("is not quoted where it is wrong: anything in it may be a secret", () => {
    const found = problems({ cpis: [{ properties: { password: "CANARY" } }, "CANARY"] }, "CANARY");
    expect(found.length).toBeGreaterThan(3);
    expect(JSON.stringify(found)).not.toContain("CANARY");
  });
});
