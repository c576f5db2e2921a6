import { sampleTests } from "@slipway/testkit/sample-tests";
import { describe, expect, it } from "vitest";
import { cloud, group, manifest, manual, subnet } from "./testing/builders.ts";
import { asDeployed, inSequence, newWorld, next, updatesOf } from "./testing/world.ts";

sampleTests(1 / 4);

const COUNT = 10_000;
const big = (vmType: string) => ({
  manifest: manifest(
    Array.from({ length: 10 }, (_, at) =>
      group(`group-${at}`, COUNT / 10, { azs: ["z1", "z2", "z3"], vmType, persistentDisk: { type: "d1" } }),
    ),
  ),
  cloudConfig: cloud({
    networks: [
      manual("private", ...["z1", "z2", "z3"].map((az, at) => subnet(`10.${at}.0.0/16`, { azs: [az] }))),
    ],
  }),
});

describe("ten thousand instances", () => {
  const fresh = next(newWorld(), big("small"));
  const world = asDeployed(fresh);

  it("get a VM and an address each if they are new", () => {
    expect(fresh.missingVms).toHaveLength(COUNT);
    expect(new Set(fresh.desired.flatMap(({ ips }) => ips.map(({ address }) => address))).size).toBe(COUNT);
  });

  it("are left alone if they do not change", () => {
    expect(inSequence(next(world, big("small")))).toEqual([]);
  });

  it("are all replaced if they all change", () => {
    const actions = updatesOf(next(world, big("large"))).map(({ action }) => action);
    expect(actions).toHaveLength(COUNT);
    expect(new Set(actions)).toEqual(new Set(["recreate"]));
  });
});
