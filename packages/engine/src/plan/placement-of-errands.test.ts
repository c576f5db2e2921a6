import { describe, expect, it } from "vitest";
import { group, input, manifest, planned, surplus, zoned } from "./testing/builders.ts";
import { deployed, inSequence, next } from "./testing/world.ts";

describe("an errand", () => {
  const errand = (count: number, vmType = "small") => ({
    cloudConfig: zoned(),
    manifest: manifest([group("web", count, { azs: ["z1"], lifecycle: "errand", vmType })]),
  });
  const ran = () => {
    const { cloudConfig, manifest: one } = errand(2);
    return deployed({
      cloudConfig,
      manifest: { ...one, groups: one.groups.map((web) => ({ ...web, lifecycle: "service" })) },
    });
  };

  it("gets no VM and no address from a deploy", () => {
    const made = planned(input(errand(2)));
    expect([made.desired, made.missingVms]).toEqual([[], []]);
  });

  it("whose VMs were kept is updated like any other", () => {
    expect(inSequence(next(ran(), errand(2)))).toEqual([]);
    expect(inSequence(next(ran(), errand(2, "large"))).map(({ action }) => action)).toEqual([
      "recreate",
      "recreate",
    ]);
    expect(surplus(next(ran(), errand(1)))).toBe("u000002");
  });

  it("whose VM is gone does not get it back", () => {
    const world = ran();
    for (const one of world.instances) one.vms = [];
    expect(inSequence(next(world, errand(2)))).toEqual([]);
  });
});
