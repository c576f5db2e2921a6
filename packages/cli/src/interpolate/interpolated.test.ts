import { parseYaml } from "@slipway/engine/documents/yaml";
import { systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import { describe, expect, it } from "vitest";
import { interpolated } from "./interpolated.ts";
import { CASES } from "./testing/cases.ts";
import { layOut } from "./testing/play.ts";
import { typedOptionsOf } from "./testing/typed-options.ts";

describe("interpolate", () => {
  it.each(CASES.map((one) => [one.name, one] as const))("%s", async (_, one) => {
    const { document, options } = await layOut(one);
    const tools = { env: one.env ?? {}, clock: systemClock, random: systemRandom };
    const printed = interpolated(document, typedOptionsOf(options), tools);
    if ("error" in one.expected) {
      await expect(printed).rejects.toThrow(one.expected.error);
      return;
    }
    const text = await printed;
    const { value } = one.expected;
    // A string at a path is printed as it is.
    if (one.path !== undefined && typeof value === "string") expect(text).toBe(`${value}\n`);
    else expect(parseYaml(text, "the output")).toEqual(value);
  });
});
