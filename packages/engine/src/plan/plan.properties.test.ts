import { tries } from "@slipway/testkit/tries";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { contains, parseCidr, parseIp } from "../manifest/ip.ts";
import type { CloudConfig } from "../manifest/model.ts";
import type { Plan, PlanInput } from "./model.ts";
import { plan } from "./plan.ts";
import { type Deploy, deploy, smallCloud } from "./testing/arbitrary.ts";
import { carryOut, inputFor, inSequence, newWorld, type World } from "./testing/world.ts";

const RUNS = { numRuns: tries(100) };

function asked(world: World, one: Deploy, quiet = false): PlanInput {
  if (!quiet && one.silentEach > 0)
    world.instances.forEach((instance, at) => {
      if (at % one.silentEach === 0 && instance.vms.some((vm) => vm.active)) world.silent.add(instance.uuid);
    });
  return inputFor(world, {
    manifest: one.manifest,
    cloudConfig: smallCloud(one.dns),
    director: { name: "d", enableCpiResizeDisk: one.byCpi, enableCpiUpdateDisk: one.byCpi },
    options: quiet
      ? {}
      : {
          fix: true,
          recreate: one.recreate,
          recreateDisksCreatedBefore: one.renewDisks ? 1 : undefined,
          state: one.state,
        },
  });
}

/** Plays deploys one after the other; `see` looks at every plan. Returns how many were refused. */
function play(world: World, deploys: readonly Deploy[], see: (made: Plan, given: PlanInput) => void): number {
  let refused = 0;
  for (const one of deploys) {
    const given = asked(world, one);
    const result = plan(given);
    if (!result.ok) {
      refused += 1;
      world.silent.clear();
      continue;
    }
    see(result.plan, given);
    carryOut(world, result.plan, one.killedAfter);
    world.silent.clear();
  }
  return refused;
}

const deploys = fc.array(deploy, { minLength: 1, maxLength: 5 });

describe("a plan, whatever was deployed before and wherever that was interrupted", () => {
  it("leaves nothing to do once it is carried out", () => {
    let refused = 0;
    let total = 0;
    fc.assert(
      fc.property(deploys, (all) => {
        const world = newWorld();
        refused += play(world, all, () => undefined);
        total += all.length;
        const last = { ...(all.at(-1) as Deploy), killedAfter: undefined };
        const made = plan(asked(world, last, true));
        if (!made.ok) return;
        carryOut(world, made.plan);
        let again = plan(asked(world, last, true));
        // Who had a disk kept its zone for it; without it the zones are evened out, once.
        if (inSequence(made.plan).some(({ steps }) => steps.some(({ name }) => name === "orphan_disk"))) {
          if (!again.ok) throw new Error("refused");
          carryOut(world, again.plan);
          again = plan(asked(world, last, true));
        }
        expect(again.ok && inSequence(again.plan)).toEqual([]);
        expect(again.ok && again.plan.desired.length).toBe(made.plan.desired.length);
      }),
      RUNS,
    );
    // Otherwise the property says little.
    expect(refused / total).toBeLessThan(0.3);
  });

  it("gives every address to one instance, inside its subnet, and never a reserved one", () => {
    fc.assert(
      fc.property(deploys, (all) => {
        const world = newWorld();
        play(world, all, (made, given) => {
          const addresses = made.desired.flatMap(({ ips }) => ips.map(({ address }) => address));
          expect(new Set(addresses).size).toBe(addresses.length);
          for (const address of addresses) expect(given.takenIps.has(address)).toBe(false);
          for (const { ips } of made.desired) for (const ip of ips) expectUsable(given.cloudConfig, ip);
        });
        const held = world.instances.flatMap(({ ips }) => ips.map(({ address }) => address));
        expect(new Set(held).size).toBe(held.length);
      }),
      RUNS,
    );
  });

  it("numbers instances uniquely and has one bootstrap instance in every group", () => {
    fc.assert(
      fc.property(deploys, (all) => {
        play(newWorld(), all, (made, given) => {
          for (const { name, instances } of given.manifest.groups) {
            const members = made.desired.filter(({ group }) => group === name);
            const leaving = given.instances.filter(
              ({ group, uuid }) => group === name && !members.some((one) => one.uuid === uuid),
            );
            const indices = [...members, ...leaving].map(({ index }) => index);
            expect(new Set(indices).size).toBe(indices.length);
            expect(members.length).toBe(instances);
            expect(members.filter(({ bootstrap }) => bootstrap).length).toBe(Math.min(instances, 1));
          }
        });
      }),
      RUNS,
    );
  });

  it("is the same for the same input, whatever the order of keys and records", () => {
    fc.assert(
      fc.property(deploys, (all) => {
        const world = newWorld();
        play(world, all.slice(0, -1), () => undefined);
        const one = all.at(-1) as Deploy;
        const ids = world.ids;
        const first = plan(asked(world, one));
        world.ids = ids;
        world.instances = turned(world.instances.reverse()) as World["instances"];
        const second = plan(asked({ ...world, silent: world.silent }, { ...one, silentEach: 0 }));
        expect(JSON.stringify(shape(second))).toBe(JSON.stringify(shape(first)));
      }),
      RUNS,
    );
  });

  it("has nothing that deletes a disk: what an instance gives up is an orphan", () => {
    fc.assert(
      fc.property(deploys, (all) => {
        const world = newWorld();
        const seen = new Set<string>();
        for (const one of all) {
          play(world, [one], () => undefined);
          for (const { disks } of world.instances) for (const disk of disks) seen.add(disk.cid);
          const there = [...world.orphanDisks, ...world.instances.flatMap(({ disks }) => disks)];
          const cids = new Set<string>(there.map(({ cid }) => cid));
          for (const cid of seen) expect(cids).toContain(cid);
        }
        expect(world.steps.filter(({ step }) => (step as string) === "delete_disk")).toEqual([]);
      }),
      RUNS,
    );
  });

  it("deletes instances without disks first when all could stay", () => {
    const sizes = fc.record({ disks: fc.array(fc.boolean(), { maxLength: 12 }), keep: fc.nat(12) });
    fc.assert(
      fc.property(deploy, sizes, (one, { disks, keep }) => {
        const [template] = one.manifest.groups.filter(({ name }) => name === "flat");
        if (template === undefined) return;
        const world = newWorld();
        const withDisks = (count: number, disk: boolean) => ({
          ...one.manifest,
          groups: [{ ...template, instances: count, persistentDisk: disk ? { type: "d1" } : undefined }],
        });
        const big = { ...one, state: undefined, silentEach: 0, manifest: withDisks(disks.length, true) };
        play(world, [{ ...big, killedAfter: undefined }], () => undefined);
        world.instances.forEach((instance, at) => {
          if (disks[at] === false) instance.disks = [];
        });
        const made = plan(asked(world, { ...big, manifest: withDisks(keep, false) }, true));
        if (!made.ok) throw new Error("refused");
        const gone = made.plan.groups.flat().flatMap(({ surplus }) => surplus);
        const stays = made.plan.desired.flatMap(({ uuid }) => world.instances.filter((i) => i.uuid === uuid));
        if (gone.some(({ recorded }) => (recorded?.disks.length ?? 0) > 0))
          expect(stays.every((instance) => instance.disks.length > 0)).toBe(true);
      }),
      RUNS,
    );
  });
});

function expectUsable(config: CloudConfig, ip: { address: string; network: string; static: boolean }): void {
  const network = config.networks.find(({ name }) => name === ip.network);
  const number = parseIp(ip.address) ?? -1n;
  if (network?.type !== "manual") return;
  const subnet = network.subnets.find(({ range }) =>
    contains(parseCidr(range) ?? { first: 0n, last: 0n }, number),
  );
  const range = parseCidr(subnet?.range ?? "");
  expect(range?.first).not.toBe(number);
  expect(range?.last).not.toBe(number);
  expect(subnet?.gateway).not.toBe(ip.address);
  expect(subnet?.reserved.some((one) => contains(one, number))).toBe(false);
  expect(subnet?.static.some((one) => contains(one, number))).toBe(ip.static);
}

/** Every object with its keys in the opposite order. */
function turned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(turned);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, one]) => [key, turned(one)]),
  );
}

/** Returns the decisions of a plan, without the records they were based on. */
const shape = (result: ReturnType<typeof plan>): unknown =>
  result.ok
    ? {
        desired: result.plan.desired.map(({ uuid, index, az, ips, bootstrap }) => [
          uuid,
          index,
          az,
          ips.map(({ address }) => address),
          bootstrap,
        ]),
        steps: inSequence(result.plan)
          .map((one) => [
            (one.desired ?? one.recorded)?.uuid,
            one.action,
            one.steps,
            one.changes.map((c) => c.reason).sort(),
          ])
          .map((one) => JSON.stringify(one))
          .sort(),
      }
    : result.problems.map(({ code }) => code).sort();
