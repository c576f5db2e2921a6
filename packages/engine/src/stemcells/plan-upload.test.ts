import { describe, expect, it } from "vitest";
import { planUpload } from "./plan-upload.ts";

const plan = (
  formats: readonly string[] | undefined,
  cpi: readonly string[] | undefined,
  existing: readonly string[] = [],
  fix = false,
) => planUpload(formats, [{ name: "", formats: cpi }], existing, fix).map(({ what }) => what);

describe("which CPIs get a stemcell", () => {
  it.each([
    [["a", "b"], ["b"]],
    [undefined, ["b"]],
    [["a"], undefined],
    [[], ["b"]],
    [["a"], []],
    [undefined, undefined],
  ])("formats %j on a CPI that takes %j: it is tried", (formats, cpi) => {
    expect(plan(formats, cpi)).toEqual(["create"]);
  });

  it("one that has it already is skipped, unless it is to be fixed", () => {
    expect(plan(["a"], ["a"], [""])).toEqual(["exists"]);
    expect(plan(["a"], ["a"], [""], true)).toEqual(["create"]);
  });

  it("one that takes no such format is left out as long as another takes it", () => {
    const cpis = [
      { name: "x", formats: ["a"] },
      { name: "y", formats: ["b"] },
    ];
    expect(planUpload(["a"], cpis, [], false)).toEqual([
      { cpi: "x", what: "create" },
      { cpi: "y", what: "unsupported" },
    ]);
  });

  it("none that takes it is error 50008, which names both sides", () => {
    expect(() => plan(["a"], ["b"])).toThrow(expect.objectContaining({ number: 50008 }));
    expect(() => plan(["a"], ["b"])).toThrow(
      'uploaded stemcell with formats ["a"] are not supported by available cpi formats: ["b"]',
    );
  });
});
