import { describe, expect, it } from "vitest";
import type { InstanceGroup } from "../manifest/model.ts";
import {
  cloud,
  cpis,
  group,
  input,
  manifest,
  manual,
  on,
  planned,
  refused,
  stemcell,
  subnet,
} from "./testing/builders.ts";
import { deployed, deployTo, inputFor, updatesOf } from "./testing/world.ts";

const zones = (cpi: string | undefined) =>
  cloud({
    azs: [{ name: "z1", cpi, cloudProperties: { zone: "a" } }],
    networks: [
      manual("private", subnet("10.0.0.0/16", { azs: ["z1"] })),
      manual("anywhere", subnet("10.1.0.0/16")),
    ],
  });

/** One instance in a zone of this CPI. */
const given = (cpi: string | undefined, more: Partial<InstanceGroup> = {}) => ({
  cloudConfig: zones(cpi),
  cpis: cpis(["a", "b"]),
  stemcells: [stemcell("1.1", "a", 1), stemcell("1.1", "b", 2)],
  manifest: manifest([group("db", 1, { azs: ["z1"], ...more })]),
});

describe("a zone's CPI", () => {
  it.each([
    [undefined, ["a"], "AZ 'z1' must specify a CPI when CPI config is defined"],
    ["c", ["a"], "Failed to load CPI for AZ 'z1': CPI 'c' not found in cpi-config"],
    [
      "a",
      undefined,
      "Failed to load CPI for AZ 'z1': CPI 'a' not found in cpi-config (because cpi-config is not set)",
    ],
  ])("%s of %j is told once, in upstream's words", (cpi, names, text) => {
    const config = names && cpis(names);
    const two = manifest([group("db", 2, { azs: ["z1"] }), group("web", 1, { azs: ["z1"] })]);
    const problems = refused(input({ ...given(cpi), cpis: config, manifest: two }));
    expect(problems.map(({ code, problem }) => [code, problem])).toEqual([[550001, text]]);
  });

  it("may be named as it was called before", () => {
    const made = planned(input({ ...given("old"), cpis: cpis(["a", "b"], { old: "b" }) }));
    expect(made.desired.map(({ cpi, stemcell: { cid } }) => [cpi, cid])).toEqual([["b", "sc-1.1-b"]]);
  });

  it("is the Director's own for a group without zones, which needs a stemcell there", () => {
    const [found] = refused(input(given("a", { azs: undefined, networks: [on("anywhere")] })));
    expect(found?.problem).toMatch(/not found for default cpi, please upload again$/);
  });
});

describe("an instance whose zone has another CPI by now", () => {
  it("gets a new VM there", () => {
    const world = deployed(given("a"));
    const [update] = updatesOf(planned(inputFor(world, given("b"))));
    expect([update?.action, update?.changes]).toEqual([
      "recreate",
      [{ kind: "cloud_properties", reason: "CPI 'a' -> CPI 'b'" }],
    ]);
    deployTo(world, given("b"));
    expect(world.instances.flatMap(({ vms }) => vms.map(({ cpi }) => cpi))).toEqual(["b"]);
    expect(updatesOf(planned(inputFor(world, given("b"))))).toEqual([]);
  });

  it.each([undefined, "data"])(
    "is rejected with its disk, and the error names both ways out; name: %s",
    (name) => {
      const disk: Partial<InstanceGroup> =
        name === undefined ? { persistentDisk: { size: 10 } } : { persistentDisks: [{ name, type: "d1" }] };
      const world = deployed(given("a", { persistentDisk: { size: 10 } }));
      const disks = world.instances.flatMap((one) => one.disks);
      for (const one of disks) one.name = name;
      const [found, ...more] = refused(inputFor(world, given("b", disk)));
      expect(more).toEqual([]);
      expect(found?.problem).toMatch(
        /^Instance 'db\/.* \(0\)' is to move to CPI 'b', and its persistent disk /,
      );
      expect(found?.problem).toContain(`'${disks[0]?.cid}' is with CPI 'a' and cannot`);
      expect(found?.fix).toContain("migrated_from: [{name: 'a'}]");
      expect(found?.fix).toContain("orphaned and not deleted");
    },
  );

  it("moves without its disk where that is no longer wanted, and the disk is orphaned", () => {
    const world = deployed(given("a", { persistentDisk: { size: 10 } }));
    deployTo(world, given("b"));
    expect(world.orphanDisks.map(({ cpi }) => cpi)).toEqual(["a"]);
    expect(world.instances.flatMap(({ vms, disks }) => [vms[0]?.cpi, disks.length])).toEqual(["b", 0]);
  });

  it("may be stopped hard, and is refused only when its disk is to be attached again", () => {
    const disk = { persistentDisk: { size: 10 } };
    const world = deployed(given("a", disk));
    const hard = { state: { group: "db", instance: undefined, to: "detached" } } as const;
    deployTo(world, { ...given("b", disk), options: hard });
    expect(world.instances[0]?.vms).toEqual([]);
    const start = { state: { group: "db", instance: undefined, to: "started" } } as const;
    expect(refused(inputFor(world, { ...given("b", disk), options: start }))).toHaveLength(1);
  });

  it("does not take up a disk that a deploy in the other cloud had begun with", () => {
    const disk = { persistentDisk: { size: 10 } };
    const world = deployed(given("a"));
    const made = planned(inputFor(world, given("a", disk)));
    // Up to the disk that was made, and was not yet the instance's.
    for (let steps = 1; world.instances[0]?.disks.length !== 1; steps += 1) {
      Object.assign(world, deployed(given("a")));
      deployTo(world, given("a", disk), steps);
    }
    expect(made.desired).toHaveLength(1);
    deployTo(world, given("b", disk));
    expect(world.orphanDisks.map(({ cpi }) => cpi)).toEqual(["a"]);
    expect(world.instances[0]?.disks.map(({ cpi, active }) => [cpi, active])).toEqual([["b", true]]);
  });
});
