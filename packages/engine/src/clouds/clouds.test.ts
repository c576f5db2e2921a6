import { systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import { describe, expect, it } from "vitest";
import { cpiOfConfig, makeClouds } from "./clouds.ts";
import type { CpiPort } from "./cpi-port.ts";
import { UnknownCpi } from "./errors.ts";
import { DIRECTOR } from "./testing/cpi-files.ts";
import { info } from "./testing/scripted-cpi.ts";

const port = (version: number): CpiPort => ({ command: `v${version}`, call: async () => info(version) });
const clouds = (...names: readonly string[]) =>
  makeClouds({
    cpis: names.map((name, at) => ({ name, port: port(at + 1) })),
    directorUuid: DIRECTOR,
    random: systemRandom,
  });

describe("the CPIs of a Director", () => {
  it("are found by name, each with what it said of itself", async () => {
    const two = clouds("", "z2");
    expect(two.names).toEqual(["", "z2"]);
    expect(two.cloud("z2")).toBe(two.cloud("z2"));
    expect((await two.cloud("").info()).apiVersion).toBe(1);
    expect((await two.cloud("z2").info()).apiVersion).toBe(2);
  });

  it("names a CPI that does not exist, together with those that do", () => {
    expect(() => clouds("", "z2").cloud("z3")).toThrow(
      UnknownCpi({ name: "z3", known: ["", "z2"], configured: false }).message,
    );
  });
});

describe("a configuration", () => {
  const given = { clock: systemClock, embedded: () => port(3) };

  it("without an executable has the CPI of this process", () => {
    expect(cpiOfConfig({}, given)).toMatchObject({ name: "", port: { command: "v3" }, longestMs: undefined });
  });

  it("uses the executable that the configuration names", () => {
    const cpi = { exec_path: "/the/cpi", properties: { a: 1 }, deadline_s: 60 };
    expect(cpiOfConfig({ cpi }, given)).toMatchObject({
      name: "",
      port: { command: "/the/cpi" },
      properties: { a: 1 },
      longestMs: 60_000,
    });
  });
});
