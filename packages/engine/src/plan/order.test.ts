import { describe, expect, it } from "vitest";
import type { InstanceGroup, UpdatePolicy } from "../manifest/model.ts";
import type { Plan, PlanOptions } from "./model.ts";
import { batchesOf } from "./order.ts";
import { group, input, manifest, planned, update, zoned } from "./testing/builders.ts";
import { deployed, next } from "./testing/world.ts";

const batches = (plan: Plan) =>
  plan.groups
    .flat()
    .flatMap((one) =>
      one.batches.map(
        ({ canary, maxInFlight, instances }) =>
          `${canary ? "canary " : ""}${maxInFlight}: ${instances.map(({ desired }) => `${desired?.index}${desired?.az ?? ""}`).join(" ")}`,
      ),
    );

const fresh = (
  count: number,
  policy: Partial<UpdatePolicy>,
  options: Partial<PlanOptions> = {},
  firstDeploy = false,
) =>
  planned(
    input({
      cloudConfig: zoned(),
      manifest: manifest([group("web", count, { azs: ["z1", "z2"], update: update(policy) })]),
      options,
      firstDeploy,
    }),
  );

const NO_LIMITS = { canaries: undefined, maxInFlight: undefined };

describe("the instances of a group", () => {
  it.each([0, 1, 2])("begin with the bootstrap instance as the canary, wherever its id stands: %i", (at) => {
    const web = group("web", 3, { update: update({ canaries: { count: 1 } }) });
    const plan = planned(input({ cloudConfig: zoned(), manifest: manifest([{ ...web, azs: ["z1"] }]) }));
    const all = plan.groups.flat().flatMap((one) => one.batches.flatMap(({ instances }) => instances));
    const changed = all.flatMap((one, nth) =>
      one.desired === undefined ? [] : [{ ...one, desired: { ...one.desired, bootstrap: nth === at } }],
    );
    const [canary, rest] = batchesOf(web, changed, "z1", NO_LIMITS, false);
    expect(canary?.instances.map(({ desired }) => desired?.bootstrap)).toEqual([true]);
    expect(rest?.instances.map(({ desired }) => desired?.bootstrap)).toEqual([false, false]);
  });

  it.each([
    [
      "canaries of the first zone, then zone by zone",
      5,
      {},
      {},
      false,
      ["canary 2: 0z1", "2: 2z1 4z1", "2: 1z2 3z2"],
    ],
    ["no canaries", 2, { canaries: { count: 0 } }, {}, false, ["1: 0z1", "1: 1z2"]],
    [
      "more canaries than the zone has",
      4,
      { canaries: { count: 9 } },
      {},
      false,
      ["canary 2: 0z1 2z1", "2: 1z2 3z2"],
    ],
    [
      "shares of the zone, rounded down",
      6,
      { canaries: { percent: 50 }, maxInFlight: { percent: 70 } },
      {},
      false,
      ["canary 2: 0z1", "2: 2z1 4z1", "2: 1z2 3z2 5z2"],
    ],
    [
      "never less than one at once",
      2,
      { maxInFlight: { percent: 1 } },
      {},
      false,
      ["canary 1: 0z1", "1: 1z2"],
    ],
    [
      "as the command line says",
      4,
      {},
      { canaries: { count: 2 }, maxInFlight: { count: 1 } },
      false,
      ["canary 1: 0z1 2z1", "1: 1z2 3z2"],
    ],
    [
      "all zones at once, the first time",
      4,
      { initialDeployAzStrategy: "parallel" },
      {},
      true,
      ["canary 2: 0z1", "2: 1z2 2z1 3z2"],
    ],
    [
      "zone by zone, any other time",
      2,
      { initialDeployAzStrategy: "parallel" },
      {},
      false,
      ["canary 1: 0z1", "1: 1z2"],
    ],
  ] as const)("%s", (_, count, policy, options, first, expected) => {
    expect(batches(fresh(count, policy, options, first))).toEqual(expected);
  });

  it("begin in the zone of the bootstrap instance and with it, and are sorted by name", () => {
    const given = { cloudConfig: zoned(), manifest: manifest([group("web", 4, { azs: ["z1", "z2"] })]) };
    const world = deployed(given);
    for (const one of world.instances) one.bootstrap = one.index === 3;
    const made = next(world, { ...given, options: { recreate: true } });
    expect(batches(made)).toEqual(["canary 2: 3z2", "2: 1z2", "2: 0z1 2z1"]);
  });

  it("are watched as long as their kind says", () => {
    const [canary, rest] = fresh(3, {})
      .groups.flat()
      .flatMap((one) => one.batches);
    expect([canary?.watchMs, rest?.watchMs]).toEqual([
      [1000, 60_000],
      [2000, 70_000],
    ]);
  });

  it("are in no batch and do not count if they do not change", () => {
    const given = (count: number) => ({
      cloudConfig: zoned(),
      manifest: manifest([group("web", count, { azs: ["z1"] })]),
    });
    expect(batches(next(deployed(given(3)), given(4)))).toEqual(["canary 1: 3z1"]);
  });

  it("are listed as surplus if they are too many", () => {
    const given = (count: number) => ({
      cloudConfig: zoned(),
      manifest: manifest([group("web", count, { azs: ["z1"] })]),
    });
    const [web] = next(deployed(given(5)), given(2)).groups.flat();
    expect(web?.surplus.map(({ recorded }) => recorded?.index)).toEqual([2, 3, 4]);
    expect(web?.maxInFlight).toBe(2);
  });
});

describe("the groups", () => {
  it.each([
    ["a b c", "a | b | c"],
    ["a b~ c~ d", "a | b c | d"],
    ["a~ b~ c", "a b | c"],
    ["a~ b c~", "a | b | c"],
    ["", ""],
  ])("%s go as %s", (given, expected) => {
    const groups: InstanceGroup[] = given
      .split(" ")
      .filter((name) => name !== "")
      .map((name) => group(name.replace("~", ""), 1, { update: update({ serial: !name.endsWith("~") }) }));
    const made = planned(input({ manifest: manifest(groups) }));
    expect(made.groups.map((list) => list.map((one) => one.group).join(" ")).join(" | ")).toBe(expected);
  });
});
