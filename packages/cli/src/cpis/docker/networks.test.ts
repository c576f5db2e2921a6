import { systemClock } from "@slipway/kernel/clock";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openEngine } from "./engine.ts";
import { holderOfRange, type Interfaces, overlap } from "./networks.ts";
import { FakeEngine } from "./testing/fake-engine.ts";

const RANGE = "10.245.77.0/24";
const OURS = { "slipway.kind": "network" };

let engine: FakeEngine;
beforeEach(async () => {
  engine = await FakeEngine.open({});
});
afterEach(() => engine.close());

/** Beside the engine's own, which have no subnet or another. */
function networks(...more: readonly object[]): void {
  const all = [
    { Name: "host", IPAM: { Config: [] } },
    { Name: "bridge", ...subnet("172.17.0.0/16") },
    ...more,
  ];
  const named = all.map((one, at) => ({ Id: String(at), ...one }) as { Id: string });
  const one = Object.fromEntries(named.map((network) => [`/networks/${network.Id}`, network]));
  engine.answers = { "/networks": named, ...one };
}
const subnet = (Subnet: string) => ({ IPAM: { Config: [{ Subnet }] } });
const holder = async (interfaces: Interfaces = {}) =>
  await holderOfRange(await openEngine({ host: engine.host }, systemClock), RANGE, interfaces);
const onHost = (cidr: string): Interfaces => ({ eth0: [{ cidr } as never] });

describe("the holder of the demo's addresses", () => {
  it("is undefined for a free range", async () => {
    networks({ Name: "other", ...subnet("10.245.78.0/24") });
    expect(await holder(onHost("10.245.78.5/24"))).toBeUndefined();
  });

  it("a network that was made for them and is empty is used again, although its bridge is this machine's", async () => {
    networks({ Name: "slipway-10.245.77.0-24", Labels: OURS, Containers: {}, ...subnet(RANGE) });
    expect(await holder(onHost("10.245.77.1/24"))).toBeUndefined();
  });

  it.each([
    ["one with containers in it", { Labels: OURS, Containers: { a: {} }, ...subnet(RANGE) }],
    ["one that others made", { Labels: {}, ...subnet(RANGE) }],
    ["a larger one", { Labels: OURS, ...subnet("10.245.0.0/16") }],
    ["a smaller one", { ...subnet("10.245.77.128/25") }],
  ])("%s is named", async (_name, network) => {
    networks({ Name: "theirs", ...network });
    expect(await holder()).toContain("theirs");
  });

  it("this machine's own network is named", async () => {
    networks();
    expect(await holder(onHost("10.245.77.9/24"))).toContain("eth0 (10.245.77.9/24)");
  });
});

it.each([
  ["10.0.0.0/8", "10.1.2.0/24", true],
  ["10.1.2.0/24", "10.0.0.0/8", true],
  ["10.1.2.3/24", "10.1.2.0/24", true],
  ["10.1.3.0/24", "10.1.2.0/24", false],
  ["fd00::/8", "10.1.2.0/24", false],
])("%s and %s have addresses in common: %s", (one, other, common) => {
  expect(overlap(one, other)).toBe(common);
});
