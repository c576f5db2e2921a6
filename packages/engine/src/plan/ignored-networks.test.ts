import { describe, expect, it } from "vitest";
import type { CloudConfig } from "../manifest/model.ts";
import { cloud, group, manifest, manual, on, refused, subnet } from "./testing/builders.ts";
import { deployed, inputFor, inSequence, next } from "./testing/world.ts";

const NETWORKS: CloudConfig["networks"] = [
  manual("private", subnet("10.0.0.0/16")),
  manual("other", subnet("10.1.0.0/16")),
  { type: "dynamic", name: "given", subnets: [{ dns: [], azs: undefined, cloudProperties: {} }] },
];
const onNetworks = (...names: readonly string[]) => ({
  cloudConfig: cloud({ networks: NETWORKS }),
  manifest: manifest([group("web", 1, { networks: names.map((name) => on(name)) })]),
});
const ignoredOn = (...names: readonly string[]) => {
  const world = deployed(onNetworks(...names));
  for (const one of world.instances) one.ignore = true;
  return world;
};

describe("the networks of a group with ignored instances", () => {
  it.each([
    [["private"], ["private", "other"]],
    [["private", "other"], ["private"]],
    [["private"], ["other"]],
    [["private"], ["private", "given"]],
    [["private", "given"], ["private"]],
  ])("may not change from %j to %j", (had, asked) => {
    expect(refused(inputFor(ignoredOn(...had), onNetworks(...asked)))).toMatchObject([
      {
        code: 190020,
        where: "instance_groups/web/networks",
        problem:
          "In instance group 'web', which contains ignored vms, an attempt was made to modify the networks. This operation is not allowed",
      },
    ]);
  });

  it("may be written in another order, and may have dynamic ones", () => {
    const plan = next(ignoredOn("private", "given"), onNetworks("given", "private"));
    expect(inSequence(plan)).toEqual([]);
  });
});

describe("instances that migrate", () => {
  it("get indexes in the order of migrated_from", () => {
    const before = manifest([group("b", 2), group("a", 2)]);
    const world = deployed({ manifest: before });
    const of = (name: string) => world.instances.filter((one) => one.group === name).map(({ uuid }) => uuid);
    const migratedFrom = ["b", "a"].map((name) => ({ name, az: undefined }));
    const plan = next(world, { manifest: manifest([group("web", 4, { migratedFrom })]) });
    expect(plan.desired.map(({ uuid, index }) => [index, uuid])).toEqual(
      [...of("b"), ...of("a")].map((uuid, index) => [index, uuid]),
    );
  });

  it("come after those that the group has already", () => {
    const world = deployed({ manifest: manifest([group("old", 1), group("web", 1)]) });
    const [old] = world.instances.filter((one) => one.group === "old");
    const migratedFrom = [{ name: "old", az: undefined }];
    const plan = next(world, { manifest: manifest([group("web", 1, { migratedFrom })]) });
    expect(
      plan.groups.flat().flatMap(({ surplus }) => surplus.map(({ recorded }) => recorded?.uuid)),
    ).toEqual([old?.uuid]);
  });
});
