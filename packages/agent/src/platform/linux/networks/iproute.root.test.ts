import { mkdir } from "node:fs/promises";
import { systemClock } from "@slipway/kernel/clock";
import { type Exec, mustRun, systemExec } from "@slipway/kernel/exec";
import { systemRandom } from "@slipway/kernel/random";
import type { Networks } from "@slipway/protocol/settings/networks";
import { holdMachine } from "@slipway/testkit/hold-machine";
import { needs } from "@slipway/testkit/needs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { testMachine } from "../system/testing/machine.ts";
import { linuxNetworks } from "./linux-networks.ts";

const id = systemRandom.hex(3);
const namespace = `slw-${id}`;

const ip = (...args: string[]) => mustRun(systemExec, "preparing the test", "ip", args);

const release = await holdMachine();
const isAvailable = await ip("netns", "add", namespace).then(
  () => ip("netns", "del", namespace).then(() => true),
  () => false,
);
await release();
const ready = needs(
  "root-netns",
  isAvailable,
  "ip netns add does not work here (it needs root and iproute2)",
);

/** Runs everything inside the namespace, where nothing but these tests' interfaces can be harmed. */
const inside: Exec = (program, args, options) => {
  // Whatever manages the networks of the host has no part in it.
  if (program === "systemctl") return systemExec("false", [], options);
  return systemExec("ip", ["netns", "exec", namespace, program, ...args], options);
};

describe.runIf(ready)("ip in a network namespace", () => {
  let mac = "";
  let letGo: () => Promise<void>;

  beforeAll(async () => {
    letGo = await holdMachine();
    await ip("netns", "add", namespace);
    await ip(
      "link",
      "add",
      `sa${id}`,
      "netns",
      namespace,
      "type",
      "veth",
      "peer",
      "name",
      `sb${id}`,
      "netns",
      namespace,
    );
    await mustRun(inside, "preparing the test", "ip", ["link", "set", `sb${id}`, "up"]);
    const shown = await mustRun(inside, "preparing the test", "ip", ["-j", "link", "show", `sa${id}`]);
    mac = (JSON.parse(shown.stdout) as { address: string }[])[0]?.address ?? "";
  });

  // Both ends of the pair go with it.
  afterAll(async () => {
    await ip("netns", "del", namespace);
    await letGo();
  });

  it("sets addresses, label, routes and gateways; the second time it changes nothing; live() reads them back", async () => {
    const machine = await testMachine();
    const device = `sa${id}`;
    await machine.write(`sys/class/net/${device}/address`, `${mac}\n`);
    await mkdir(machine.paths.system(`sys/class/net/${device}/device`));
    for (const scope of ["all", "default", device]) {
      await machine.write(`proc/sys/net/ipv6/conf/${scope}/disable_ipv6`, "0\n");
    }
    const ran: string[] = [];
    const exec: Exec = (program, args, options) => {
      if (!args.includes("-j")) ran.push([program, ...args].join(" "));
      return inside(program, args, options);
    };
    const networks = linuxNetworks({ ...machine, exec, clock: systemClock, ownAddresses: () => [] });
    const settings: Networks = {
      a: {
        ip: "10.211.0.5",
        netmask: "255.255.255.0",
        gateway: "10.211.0.1",
        mac,
        default: ["gateway", "dns"],
        routes: [{ Destination: "10.212.0.0", Netmask: "255.255.0.0", Gateway: "10.211.0.9" }],
      },
      b: { ip: "10.211.0.6", netmask: "255.255.255.255", alias: `${device}:1` },
      c: {
        ip: "fd11::5",
        netmask: "ffff:ffff:ffff:ffff::",
        gateway: "fd11::1",
        mac,
        default: ["gateway"],
      },
    };

    await networks.configure(settings, AbortSignal.timeout(240_000));
    expect(await networks.live()).toEqual({
      ip: "10.211.0.5",
      netmask: "255.255.255.0",
      gateway: "10.211.0.1",
    });
    const show = async (...args: string[]) => (await mustRun(inside, "looking", "ip", args)).stdout;
    expect(await show("address", "show", device)).toMatch(/10\.211\.0\.6\/32 scope global \S+:1\b/);
    expect(await show("address", "show", device)).toContain("fd11::5/64");
    expect(await show("route")).toContain(`10.212.0.0/16 via 10.211.0.9 dev ${device}`);
    expect(await show("-6", "route")).toContain(`default via fd11::1 dev ${device}`);

    const before = ran.length;
    await networks.configure(settings, AbortSignal.timeout(240_000));
    expect(ran.slice(before)).toEqual([]);

    await mustRun(inside, "preparing the test", "ip", [
      ...["neigh", "replace", "10.211.0.77", "lladdr", "02:00:00:00:00:77", "nud", "stale", "dev", device],
    ]);
    expect(await show("neigh")).toContain("10.211.0.77");
    await networks.deleteArpEntries(["10.211.0.77"]);
    expect(await show("neigh")).not.toMatch(/10\.211\.0\.77 .*lladdr/);
  });

  it("reaches a gateway outside the network, as clouds with /32 addresses have it", async () => {
    const machine = await testMachine();
    const device = `sa${id}`;
    await machine.write(`sys/class/net/${device}/address`, `${mac}\n`);
    await mkdir(machine.paths.system(`sys/class/net/${device}/device`));
    const networks = linuxNetworks({ ...machine, exec: inside, clock: systemClock, ownAddresses: () => [] });
    const far: Networks = { a: { ip: "10.213.0.5", netmask: "255.255.255.255", gateway: "10.214.0.1" } };
    await networks.configure(far, AbortSignal.timeout(240_000));
    const routes = await mustRun(inside, "looking", "ip", ["route", "show", "default"]);
    expect(routes.stdout).toContain(`default via 10.214.0.1 dev ${device} onlink`);
  });
});
