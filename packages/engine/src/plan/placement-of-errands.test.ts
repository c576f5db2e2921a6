import { describe, expect, it } from "vitest";
import type { InstanceUuid } from "../model/names.ts";
import { group, input, manifest, on, planned, surplus, zoned } from "./testing/builders.ts";
import { deployed, deployTo, inputFor, inSequence, next } from "./testing/world.ts";

describe("an errand", () => {
  const errand = (count: number, vmType = "small") => ({
    cloudConfig: zoned(),
    manifest: manifest([group("web", count, { azs: ["z1"], lifecycle: "errand", vmType })]),
  });
  const to = (state: "started" | "detached") => ({
    runningErrands: new Set(["web"]),
    options: { fix: true, state: { group: undefined, instance: undefined, to: state } },
  });
  const running = to("started");
  const ran = () => deployed({ ...errand(2), ...running });
  const ended = () => {
    const world = ran();
    deployTo(world, { ...errand(2), ...to("detached") });
    return world;
  };
  const actions = (plan: ReturnType<typeof next>) => inSequence(plan).map(({ action }) => action);

  it("gets instances from a deploy, without VMs and addresses", () => {
    const made = planned(input(errand(2)));
    expect(made.desired).toMatchObject([
      { group: "web", index: 0, az: "z1", bootstrap: true, state: "started", errand: true, ips: [] },
      { group: "web", index: 1, az: "z1", bootstrap: false, state: "started", errand: true, ips: [] },
    ]);
    expect(inSequence(made)).toEqual([]);
    expect([...made.idleErrands]).toEqual(["web"]);
  });

  it("leaves its static address free until it runs", () => {
    const both = manifest([
      group("checks", 1, { azs: ["z1"], lifecycle: "errand", networks: [on("private", "10.0.0.100")] }),
      group("web", 1, { azs: ["z1"], networks: [on("private", "10.0.0.100")] }),
    ]);
    const made = planned(input({ cloudConfig: zoned(), manifest: both }));
    expect(made.desired.map(({ ips }) => ips.map(({ address }) => address))).toEqual([[], ["10.0.0.100"]]);
  });

  it("keeps the instances that a deploy has recorded when it runs", () => {
    const world = deployed(errand(2));
    const before = world.instances.map(({ uuid }) => uuid);
    const made = next(world, { ...errand(2), ...running });
    expect(made.desired.map(({ uuid }) => uuid)).toEqual(before);
    expect(made.missingVms.map(({ desired }) => desired?.uuid)).toEqual(before);
  });

  it("is updated like a service if its VMs were kept", () => {
    expect(inSequence(next(ran(), errand(2)))).toEqual([]);
    expect(actions(next(ran(), errand(2, "large")))).toEqual(["recreate", "recreate"]);
    expect(surplus(next(ran(), errand(1)))).toBe("u000002");
  });

  it("gets VMs for all its instances from a deploy while one of them has a VM", () => {
    const world = ran();
    for (const one of world.instances.slice(1)) one.vms = [];
    expect(next(world, errand(2)).missingVms.map(({ desired }) => desired?.index)).toEqual([1]);
  });

  it("does not get back a VM that is gone", () => {
    const world = ran();
    for (const one of world.instances) one.vms = [];
    expect(inSequence(next(world, errand(2)))).toEqual([]);
  });

  it("is started but without VMs when its run has ended, and keeps its addresses", () => {
    const before = ran().instances.map(({ ips }) => ips);
    const world = ended();
    expect(world.instances).toMatchObject(before.map((ips) => ({ state: "started", vms: [], ips })));
    expect(inSequence(next(world, errand(2)))).toEqual([]);
  });

  it("loses also the VM that an interrupted run has left beside the active one", () => {
    const world = ran();
    const [first] = world.instances;
    const [vm] = first?.vms ?? [];
    if (vm === undefined) throw new Error("there is no VM");
    first?.vms.push({ ...vm, id: 99, cid: `${vm.cid}-new` as typeof vm.cid, active: false });
    deployTo(world, { ...errand(2), ...to("detached") });
    expect(world.instances.flatMap(({ vms }) => vms)).toEqual([]);
  });

  it("gives VMs to an errand group that becomes a service, and keeps the VMs of a service that becomes an errand", () => {
    const service = { ...errand(2), manifest: manifest([group("web", 2, { azs: ["z1"] })]) };
    expect(next(ended(), service).missingVms).toHaveLength(2);
    expect(next(ended(), service).desired.map(({ errand: one }) => one)).toEqual([undefined, undefined]);
    expect(inSequence(next(deployed(service), errand(2)))).toEqual([]);
  });

  it("starts an errand instance that an older Director recorded as stopped with --hard", () => {
    const world = ended();
    for (const one of world.instances) Object.assign(one, { state: "detached", errand: undefined });
    const states = next(world, errand(2)).desired.map(({ state }) => state);
    expect(states).toEqual(["started", "started"]);
    const uuids = inputFor(world, errand(2)).instances.map(({ uuid }): InstanceUuid => uuid);
    expect(next(world, { ...errand(2), ...running }).missingVms.map(({ desired }) => desired?.uuid)).toEqual(
      uuids,
    );
  });
});
