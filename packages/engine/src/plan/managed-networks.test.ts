import type { NetworkCid } from "@slipway/protocol/ids";
import { describe, expect, it } from "vitest";
import type { ManualNetwork } from "../manifest/model.ts";
import type { NetworkRecord } from "../model/records.ts";
import { planNetworks } from "./managed-networks.ts";
import { cloud, cpis, group, manifest, manual, on, subnet } from "./testing/builders.ts";

const managed = (name: string, ...subnets: ManualNetwork["subnets"]): ManualNetwork => ({
  ...manual(name, ...subnets),
  managed: true,
});
const made = (ready: boolean, ...ranges: readonly string[]): NetworkRecord => ({
  name: "made",
  ready,
  subnets: ranges.map((range, at) => ({
    ...{ network: "made", name: at === 0 ? "one" : "two", cid: `net-${at}` as NetworkCid, cpi: "", range },
    ...{ gateway: null, reserved: [], cloudProperties: {} },
  })),
});
const two = managed(
  "made",
  subnet("10.8.0.0/24", { name: "one", azs: ["z1", "z2"], cloudProperties: { zone: "mine", vlan: 7 } }),
  subnet("", { name: "two", azs: ["z3"], gateway: undefined, netmaskBits: 26 }),
);
const inside = manifest([group("web", 1, { networks: [on("made")] })]);

function orders(documents: object, recorded?: NetworkRecord) {
  const given = { manifest: inside, cloudConfig: cloud({ networks: [two] }), cpis: undefined, ...documents };
  const planned = planNetworks(given, new Map(recorded && [["made", recorded]]));
  if (!planned.ok) throw new Error(JSON.stringify(planned.problems));
  return planned.networks;
}
const missing = (...given: Parameters<typeof orders>) =>
  orders(...given).flatMap((network) => network.missing.map((one) => one.subnet));

describe("the managed networks of a deployment", () => {
  it("are made subnet by subnet, with what the zones and the subnet say", () => {
    expect(orders({})).toEqual([
      {
        name: "made",
        missing: [
          {
            ...{ network: "made", subnet: "one", cpi: "", range: "10.8.0.0/24", gateway: "10.8.0.1" },
            ...{ netmaskBits: undefined, cloudProperties: { zone: "mine", vlan: 7 } },
          },
          {
            ...{ network: "made", subnet: "two", cpi: "", range: undefined, gateway: undefined },
            ...{ netmaskBits: 26, cloudProperties: { zone: "z3" } },
          },
        ],
        unwanted: [],
      },
    ]);
  });

  it("are those of its groups, and with jobs the one it compiles on", () => {
    const compile = managed("compile", subnet("10.7.0.0/24", { name: "one" }));
    const cloudConfig = cloud({ networks: [two, compile], compilation: { network: "compile" } });
    const names = (jobs: readonly object[]) =>
      orders({
        cloudConfig,
        manifest: manifest([group("web", 1, { networks: [on("made")], jobs: jobs as never })]),
      }).map(({ name }) => name);
    expect(names([])).toEqual(["made"]);
    expect(names([{ name: "web" }])).toEqual(["made", "compile"]);
  });

  it("are made by the CPI of their first zone", () => {
    const azs = [
      ...[
        { name: "z1", cpi: "a" },
        { name: "z2", cpi: "b" },
        { name: "z3", cpi: "b" },
      ],
    ].map((zone) => ({ ...zone, cloudProperties: {} }));
    const cloudConfig = cloud({ networks: [two], azs });
    const [network] = orders({ cloudConfig, cpis: cpis(["a", "b"]) });
    expect(network?.missing.map(({ cpi }) => cpi)).toEqual(["a", "b"]);
    const unknown = planNetworks({ manifest: inside, cloudConfig, cpis: cpis(["a"]) }, new Map());
    expect(unknown).toMatchObject({ ok: false, problems: [{ code: 550001 }] });
  });

  it("are made once: what is there is not made again, and gone on with where it was left", () => {
    expect(missing({}, made(true, "10.8.0.0/24", "10.9.0.0/26"))).toEqual([]);
    expect(missing({}, made(false, "10.8.0.0/24"))).toEqual(["two"]);
    expect(missing({}, made(false, "10.8.0.0/24", "10.9.0.0/26"))).toEqual([]);
  });

  it("are given up if they were never finished and have another range than is wanted now", () => {
    const [network] = orders({}, made(false, "10.5.0.0/24", "10.9.0.0/26"));
    expect(network?.unwanted.map(({ range }) => range)).toEqual(["10.5.0.0/24"]);
    expect(network?.missing.map((one) => one.subnet)).toEqual(["one"]);
  });
});
