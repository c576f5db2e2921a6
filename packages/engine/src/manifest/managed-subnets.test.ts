import type { NetworkCid } from "@slipway/protocol/ids";
import { describe, expect, it } from "vitest";
import type { SubnetRecord } from "../model/records.ts";
import { parseCloudConfig } from "./cloud-config.ts";
import { formatRange } from "./ip.ts";
import { type ManagedNetworks, unusable } from "./managed-subnets.ts";

const made = (given: Partial<SubnetRecord> = {}): SubnetRecord => ({
  network: "made",
  name: "one",
  cid: "net-1" as NetworkCid,
  cpi: "",
  range: "10.8.0.0/24",
  gateway: "10.8.0.1",
  reserved: ["10.8.0.2-10.8.0.3"],
  cloudProperties: { net: "net-1" },
  ...given,
});
const recorded = (ready: boolean, ...subnets: readonly SubnetRecord[]): ManagedNetworks =>
  new Map([["made", { name: "made", ready, subnets }]]);

const config = (subnets: readonly object[], network: object = {}) => ({
  networks: [{ name: "made", type: "manual", managed: true, subnets, ...network }],
  compilation: { workers: 1, network: "made" },
});
const networkOf = (value: object, managed: ManagedNetworks | undefined = new Map()) => {
  const parsed = parseCloudConfig([value], managed);
  return parsed.ok ? parsed.cloudConfig.networks[0] : parsed.problems;
};
const subnetOf = (value: object, managed?: ManagedNetworks) => {
  const network = networkOf(value, managed);
  if (network === undefined || !("type" in network) || network.type !== "manual")
    throw new Error(JSON.stringify(network));
  return network.subnets[0];
};

describe("a managed network", () => {
  it("may leave range and gateway to the CPI, and names its subnets", () => {
    expect(networkOf(config([{ name: "one", netmask_bits: 26 }]))).toMatchObject({
      managed: true,
      subnets: [{ name: "one", netmaskBits: 26, range: "", gateway: undefined }],
    });
  });

  it("has what the CPI chose once it is made", () => {
    const one = subnetOf(config([{ name: "one", reserved: "10.8.0.9" }]), recorded(true, made()));
    expect(one).toMatchObject({
      ...{ range: "10.8.0.0/24", gateway: "10.8.0.1", cloudProperties: { net: "net-1" } },
    });
    expect(one?.reserved.map(formatRange)).toEqual(["10.8.0.9", "10.8.0.2-10.8.0.3"]);
  });

  it("is read again from the cloud config while its creation is unfinished", () => {
    const again = config([{ name: "one", range: "10.9.0.0/24", gateway: "10.9.0.1" }]);
    expect(subnetOf(again, recorded(false, made()))).toMatchObject({
      range: "10.9.0.0/24",
      cloudProperties: {},
    });
  });

  it.each([
    ["a subnet without a name", [{ range: "10.8.0.0/24" }], "Required property 'name' was not specified"],
    [
      "two of one name",
      [{ name: "one" }, { name: "one" }],
      "subnet names within a managed network must be unique",
    ],
    ["a gateway for no range", [{ name: "one", gateway: "10.8.0.1" }], "the CPI chooses the range"],
  ])("is refused with %s", (_, subnets, text) => {
    expect(networkOf(config(subnets))).toMatchObject([{ problem: expect.stringContaining(text) }]);
  });

  it.each([
    [{ name: "two" }, 91000, "cannot find subnet: two in the database"],
    [{ name: "one", range: "10.8.0.0/25" }, 160008, "was made with the range 10.8.0.0/24"],
    [
      { name: "one", range: "10.8.0.0/24", gateway: "10.8.0.7" },
      160008,
      "was made with the gateway 10.8.0.1, which cannot be changed",
    ],
    [{ name: "one", static: "10.9.0.4" }, 160006, "Static IP '10.9.0.4' is out of network 'made' range"],
    [{ name: "one", static: "10.8.0.3" }, 160006, "is in network 'made' reserved range"],
  ])("rejects settings that differ from what the CPI has made: %j", (subnet, code, text) => {
    expect(networkOf(config([subnet]), recorded(true, made()))).toMatchObject([
      { code, problem: expect.stringContaining(text) },
    ]);
  });

  it("may spell what was made in another way", () => {
    const same = { name: "one", range: " 10.8.0.7/24", gateway: "10.8.0.1" };
    expect(subnetOf(config([same]), recorded(true, made()))).toMatchObject({ name: "one" });
  });

  it("is refused by a Director that has none made, and by its type", () => {
    const parsed = parseCloudConfig([config([{ name: "one", range: "10.8.0.0/24", gateway: "10.8.0.1" }])]);
    expect(parsed).toMatchObject({
      problems: [{ fix: expect.stringContaining("enable_cpi_network_management") }],
    });
    const { networks, ...rest } = config([]);
    const dynamic = { ...rest, networks: [{ name: "made", type: "dynamic", managed: true }] };
    expect(networks).toHaveLength(1);
    expect(networkOf(dynamic)).toMatchObject([
      { code: 160008, problem: "Network 'made' must not specify 'managed'." },
    ]);
  });
});

describe("what a CPI says of a network", () => {
  it.each([
    [{ range: "" }, "no range"],
    [{ range: "somewhere" }, "its range 'somewhere' is none"],
    [{ gateway: "10.9.0.1" }, "gateway '10.9.0.1' is not in its range"],
    [{ reserved: ["10.8.1.0"] }, "Reserved IP '10.8.1.0' is out of subnet range"],
    [{ reserved: ["x"] }, "Reserved IP 'x'"],
  ])("%j cannot be used", (given, text) => {
    expect(unusable(made(given))).toContain(text);
  });

  it("can be used if it fits together", () => {
    expect(unusable(made())).toBeUndefined();
    expect(unusable(made({ gateway: null, reserved: [] }))).toBeUndefined();
  });
});
