import { vitals as schema } from "@slipway/protocol/agent/heartbeat";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { pathsUnder } from "../../../paths.ts";
import { parseMemory } from "./proc.ts";
import { type TestMachine, testMachine } from "./testing/machine.ts";
import { vitalsReader } from "./vitals.ts";

const MEMINFO =
  "MemTotal: 4000000 kB\nMemFree: 100 kB\nMemAvailable: 3000000 kB\nSwapTotal: 2000 kB\nSwapFree: 1500 kB\n";
const mountPoints = { ephemeral: "/var/vcap/data", persistent: "/var/vcap/store" };
const mount = (point: string, system = "rw") =>
  `36 35 98:0 / ${point} rw,noatime - ext4 /dev/sda1 ${system}\n`;

async function machineWith(mountinfo: string): Promise<TestMachine> {
  const machine = await testMachine();
  await machine.write("proc/stat", "cpu  100 100 50 700 50 0 0 0 9 9\ncpu0 1 1 1 1\n");
  await machine.write("proc/loadavg", "0.011 1.5 12.00 1/200 4711\n");
  await machine.write("proc/meminfo", MEMINFO);
  await machine.write("proc/uptime", "900.87 1700.00\n");
  await machine.write("proc/self/mountinfo", mountinfo);
  return machine;
}

const disk = (used: number, inodes: number) => ({
  blocks: 1000,
  bfree: 1000 - used,
  files: 200,
  ffree: 200 - inodes,
});

describe("vitals", () => {
  it("have upstream's strings: one decimal for the processor, two for load, none for the rest", async () => {
    const machine = await machineWith(mount("/") + mount("/var/vcap/data") + mount("/var/vcap/store"));
    const disks: Record<string, ReturnType<typeof disk>> = {
      [machine.paths.root]: disk(414, 60),
      "/var/vcap/data": disk(50, 4),
      "/var/vcap/store": disk(90, 0),
    };
    const read = vitalsReader(machine.paths, async (path) => disks[path] ?? disk(0, 0));
    expect(await read(mountPoints)).toEqual({
      cpu: { sys: "5.0", user: "20.0", wait: "5.0" },
      load: ["0.01", "1.50", "12.00"],
      mem: { kb: "1000000", percent: "25" },
      swap: { kb: "500", percent: "25" },
      uptime: { secs: 900 },
      disk: {
        system: { percent: "41", inode_percent: "30" },
        ephemeral: { percent: "5", inode_percent: "2" },
        persistent: { percent: "9", inode_percent: "0" },
      },
    });
  });

  it("show the processor's load since the last reading, and the same again when too little time has passed", async () => {
    const machine = await machineWith("");
    const read = vitalsReader(machine.paths);
    await read(mountPoints);
    await machine.write("proc/stat", "cpu  150 100 50 740 50 0 0 10\n");
    const first = (await read(mountPoints)).cpu;
    expect(first).toEqual({ sys: "0.0", user: "50.0", wait: "0.0" });
    await machine.write("proc/stat", "cpu  151 100 50 740 50 0 0 10\n");
    expect((await read(mountPoints)).cpu).toEqual(first);
    await machine.write("proc/stat", "cpu  10 0 10 80 0 0 0 0\n");
    expect((await read(mountPoints)).cpu).toEqual({ sys: "10.0", user: "10.0", wait: "0.0" });
  });

  it("tell of a disk that the kernel has set to read-only", async () => {
    const machine = await machineWith(mount("/var/vcap/data") + mount("/var/vcap/store", "rw,emergency_ro"));
    const read = vitalsReader(machine.paths, async () => disk(1, 1));
    const { ephemeral, persistent } = (await read(mountPoints)).disk;
    expect(persistent).toMatchObject({ read_only: true });
    expect(ephemeral).not.toHaveProperty("read_only");
  });

  it("know disks only where they are mounted, and forget one that cannot be asked", async () => {
    const machine = await machineWith(mount("/") + mount("/var/vcap/store"));
    const read = vitalsReader(machine.paths, async (path) => {
      if (path === "/var/vcap/store") throw new Error("EIO");
      return disk(1, 1);
    });
    expect(Object.keys((await read(mountPoints)).disk)).toEqual(["system"]);
  });

  it("are zero, not NaN, where there is nothing to divide by", async () => {
    const machine = await machineWith("");
    await machine.write("proc/meminfo", "MemTotal: 10 kB\n");
    const read = vitalsReader(machine.paths, async () => ({ blocks: 0, bfree: 0, files: 0, ffree: 0 }));
    const { swap, disk: disks } = await read(mountPoints);
    expect(swap).toEqual({ kb: "0", percent: "0" });
    expect(disks.system).toEqual({ percent: "0", inode_percent: "0" });
  });

  it("match the schema on this machine", async () => {
    const read = vitalsReader(pathsUnder("/nonexistent"));
    const vitals = await read({ ephemeral: "/proc", persistent: "/nonexistent" });
    expect(v.safeParse(schema, vitals).issues).toBeUndefined();
    expect(vitals.cpu.user).toMatch(/^\d+\.\d$/);
    expect(vitals.load).toHaveLength(3);
    for (const load of vitals.load) expect(load).toMatch(/^\d+\.\d\d$/);
    expect(Number(vitals.mem.kb)).toBeGreaterThan(0);
    expect(vitals.mem.percent).toMatch(/^\d+$/);
    expect(vitals.uptime.secs).toBeGreaterThan(0);
    expect(vitals.disk.system?.percent).toMatch(/^\d+$/);
    // /proc is a mount point everywhere; the other one nowhere.
    expect(Object.keys(vitals.disk)).toEqual(["system", "ephemeral"]);
  });
});

describe("readings of /proc", () => {
  it("count buffers and caches as free where the kernel does not say what is available", () => {
    const { mem } = parseMemory("MemTotal: 100 kB\nMemFree: 10 kB\nBuffers: 20 kB\nCached: 30 kB\n");
    expect(mem).toEqual({ usedKb: 40, totalKb: 100 });
  });
});
