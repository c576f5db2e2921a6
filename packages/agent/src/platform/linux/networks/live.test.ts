import { systemExec } from "@slipway/kernel/exec";
import { describe, expect, it } from "vitest";
import { pathsUnder } from "../../../paths.ts";
import { testMachine } from "../system/testing/machine.ts";
import { addressesFromOs, liveNetwork, liveNetworkFromProc, localAddresses } from "./live.ts";

const inet = (local: string, more: object = {}) => ({
  family: "inet",
  local,
  prefixlen: 24,
  scope: "global",
  ...more,
});
const inet6 = (local: string, more: object = {}) => inet(local, { family: "inet6", prefixlen: 64, ...more });

const ADDRESSES = [
  { ifname: "lo", addr_info: [inet("127.0.0.1", { prefixlen: 8, scope: "host" })] },
  {},
  {
    ifname: "eth0",
    addr_info: [
      inet6("fe80::1", { scope: "link" }),
      {},
      inet("10.0.0.5"),
      inet("10.0.0.6"),
      inet6("fd00::5"),
    ],
  },
  { ifname: "eth1", addr_info: [inet("10.1.0.5")] },
];

/** A machine whose `ip` shows this. */
const showing = (routes: unknown, routes6: unknown = []) =>
  testMachine(({ line }) => {
    if (line === "ip -j address") return { stdout: JSON.stringify(ADDRESSES) };
    if (line === "ip -j route show default") return { stdout: JSON.stringify(routes) };
    // Real ones print nothing, not an empty list.
    if (line === "ip -j -6 route show default") return { stdout: JSON.stringify(routes6).replace("[]", "") };
    throw new Error(`unexpected: ${line}`);
  });

describe("the live network", () => {
  it.each([
    [
      "is that of the default route",
      [{ dst: "default", gateway: "10.0.0.1", dev: "eth0" }],
      [],
      { ip: "10.0.0.5", netmask: "255.255.255.0", gateway: "10.0.0.1" },
    ],
    [
      "is that of the route with the smallest metric",
      [
        { dst: "default", gateway: "10.1.0.1", dev: "eth1", metric: 200 },
        { dst: "default", gateway: "10.0.0.1", dev: "eth0", metric: 100 },
      ],
      [],
      { ip: "10.0.0.5", netmask: "255.255.255.0", gateway: "10.0.0.1" },
    ],
    [
      "has the source address the route names",
      [{ dst: "default", gateway: "10.0.0.1", dev: "eth0", prefsrc: "10.0.0.6" }],
      [],
      { ip: "10.0.0.6", netmask: "255.255.255.0", gateway: "10.0.0.1" },
    ],
    [
      "is IPv6 where there is nothing else",
      [],
      [{ dst: "default", gateway: "fe80::9", dev: "eth0", metric: 1024 }],
      { ip: "fd00::5", netmask: "ffff:ffff:ffff:ffff::", gateway: "fe80::9" },
    ],
    ["is unknown without a default route", [], [], undefined],
    ["is unknown when the interface has no address", [{ dst: "default", dev: "eth9" }], [], undefined],
  ])("%s", async (_, routes, routes6, expected) => {
    const machine = await showing(routes, routes6);
    expect(await liveNetwork(machine.paths, machine.exec)).toEqual(expected);
  });

  const eth0 = { interface: "eth0", family: 4, address: "192.0.2.2", prefix: 24, global: true } as const;
  const table = [
    "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT",
    "eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0",
    "eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0",
    "",
  ].join("\n");

  it("is read from /proc without running anything", async () => {
    const machine = await testMachine();
    await machine.write("proc/net/route", table);
    expect(await liveNetworkFromProc(machine.paths, [eth0])).toEqual({
      ip: "192.0.2.2",
      netmask: "255.255.255.0",
      gateway: "192.0.2.1",
    });
    expect(await liveNetworkFromProc((await testMachine()).paths, [eth0])).toBeUndefined();
  });

  it.each([
    ["is missing", "missing" as const],
    ["knows no JSON", { code: 1, stderr: "ip: unrecognized option: j" }],
    ["prints something else", { stdout: "default via 10.0.0.1" }],
  ])("does without ip when it %s", async (_, answer) => {
    const machine = await testMachine(() => answer);
    await machine.write("proc/net/route", table);
    expect(await localAddresses(machine.exec)).toEqual(addressesFromOs());
    expect(await liveNetwork(machine.paths, machine.exec)).toEqual(await liveNetworkFromProc(machine.paths));
  });

  it("is the same by both ways for this machine", async () => {
    const paths = pathsUnder("/nonexistent");
    const missing = await testMachine(() => "missing");
    const byIp = await liveNetwork(paths, systemExec).catch(() => undefined);
    const byProc = await liveNetwork(paths, missing.exec);
    // /proc has no IPv6 routes.
    if (byProc !== undefined) expect(byIp).toEqual(byProc);
  });
});
