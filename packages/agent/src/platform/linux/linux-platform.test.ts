import { fakeClock } from "@slipway/testkit/fake-clock";
import { expect, it } from "vitest";
import type { DiskPlatform } from "../disks.ts";
import { linuxPlatform } from "./linux-platform.ts";
import { testMachine } from "./system/testing/machine.ts";

it("the linux platform puts the disks it is given beside its networks and system", async () => {
  const machine = await testMachine();
  const disks = {} as DiskPlatform;
  const platform = linuxPlatform({ ...machine, clock: fakeClock(), disks, config: {} });
  expect(platform.name).toBe("linux");
  expect(platform.disks).toBe(disks);
  await platform.networks.deleteArpEntries(["10.0.0.1"]);
  await platform.system.powerOff();
  expect(machine.lines()).toEqual(["ip neigh flush to 10.0.0.1", "shutdown -P 0"]);
});
