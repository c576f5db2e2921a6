import { systemRandom } from "@slipway/kernel/random";
import { fakeClock } from "@slipway/testkit/fake-clock";
import { describe, expect, it } from "vitest";
import type { DiskSettings } from "../platform/disks.ts";
import { NEVER, tools } from "../settings/testing/settings-lab.ts";
import { fileManagedDisk } from "../state/managed-disk.ts";
import { remountPersistent } from "./persistent.ts";
import { StartupProblem } from "./startup-problem.ts";
import { StartupProgress } from "./startup-progress.ts";
import { FakeVm } from "./testing/fake-vm.ts";

const disk = (cid: string): [string, DiskSettings] => [
  cid,
  { cid, hint: { kind: "text", text: cid }, fileSystem: "", mountOptions: ["noatime"], partitioner: "" },
];

async function here(...cids: string[]) {
  const t = await tools();
  const vm = new FakeVm();
  const clock = fakeClock();
  const known = new Map(cids.map(disk));
  let opened = 0;
  const parts = {
    paths: t.paths,
    disks: vm.disks,
    settings: { persistentDisks: async () => known },
    managedDisk: fileManagedDisk(t.paths.managedDisk, { random: systemRandom, log: t.log }),
    attention: new StartupProblem(),
    waiting: new StartupProgress(clock),
    openForDisks: async () => void opened++,
    clock,
    log: t.log,
  };
  const attach = (cid: string, device: string) => {
    vm.devices.set(cid, device);
    vm.formatted.add(device);
  };
  /** Time goes on until it is so. What is written down meanwhile takes real time. */
  const passes = (so: () => boolean) =>
    expect
      .poll(async () => {
        await clock.advance(1_000);
        return so();
      })
      .toBe(true);
  const isMounted = (source: string, target = t.paths.store, readOnly = false) =>
    void vm.mounts.push({ source, target, readOnly });
  return {
    ...parts,
    vm,
    known,
    opened: () => opened,
    attach,
    passes,
    isMounted,
    remount: () => remountPersistent(parts, NEVER),
  };
}

describe("after a reboot, the persistent disk", () => {
  it("is mounted again with its options, whichever others are attached", async () => {
    const one = await here("vol-1", "vol-2");
    one.attach("vol-1", "/dev/a");
    one.attach("vol-2", "/dev/b");
    await one.managedDisk.save("vol-2");
    await one.remount();
    expect(one.vm.done).toEqual(["prepare /dev/b", `mount /dev/b1 ${one.paths.store} noatime`]);
    expect(one.attention.problem()).toBeUndefined();
  });

  it("is not mounted if no disk was mounted before", async () => {
    const one = await here("vol-1");
    one.attach("vol-1", "/dev/a");
    await one.remount();
    expect(one.vm.done).toEqual([]);
  });

  it("is waited for as long as its device is missing, and the cause can be asked for", async () => {
    const one = await here("vol-1");
    await one.managedDisk.save("vol-1");
    one.waiting.enter("persistent disk");
    const remounted = one.remount();
    await one.clock.advance(0);
    await expect.poll(() => one.waiting.text()).toContain("waiting for the device of persistent disk vol-1");
    await one.passes(() => one.waiting.text().includes("no device for vol-1: looked in /dev"));
    one.attach("vol-1", "/dev/a");
    await one.passes(() => one.vm.mounts.length === 1);
    await remounted;
    expect(one.vm.mounts).toHaveLength(1);
  });

  it("can be queried while it is missing, and attached again with other settings", async () => {
    const one = await here("vol-1");
    await one.managedDisk.save("vol-1");
    const remounted = one.remount();
    await expect.poll(() => one.clock.waiting).toBeGreaterThan(0);
    expect(one.opened()).toBe(0);
    await one.passes(() => one.opened() === 1);
    // As a Director does: the disk is forgotten, attached, and announced again.
    await one.managedDisk.clear();
    one.known.set("vol-1", { ...disk("vol-1")[1], mountOptions: ["nodiratime"] });
    one.attach("vol-1", "/dev/x");
    await one.passes(() => one.vm.mounts.length === 1);
    await remounted;
    expect(one.vm.done).toContain(`mount /dev/x1 ${one.paths.store} nodiratime`);
    expect(await one.managedDisk.load()).toBe("vol-1");
  });

  it("is not waited for any longer once the missing disk is removed", async () => {
    const one = await here("vol-1");
    await one.managedDisk.save("vol-1");
    let done = false;
    const remounted = one.remount().then(() => {
      done = true;
    });
    await one.clock.advance(0);
    await one.managedDisk.clear();
    await one.passes(() => done);
    await remounted;
    expect(one.vm.mounts).toEqual([]);
    expect(one.attention.problem()).toBeUndefined();
  });

  it("is reported if neither settings nor hints have it, and no other disk takes its place", async () => {
    const one = await here("vol-2");
    one.attach("vol-2", "/dev/b");
    await one.managedDisk.save("vol-1");
    await one.remount();
    expect(one.vm.done).toEqual([]);
    expect(one.attention.problem()).toContain(
      "persistent disk vol-1, mounted before the restart, is not mounted again",
    );
    expect(one.attention.problem()).toContain("neither the settings nor the disk hints know it");
  });

  it("is not replaced by a disk whose name begins like its truncated name", async () => {
    const one = await here("vol-12");
    one.attach("vol-12", "/dev/a");
    await one.managedDisk.save("vol-1");
    await one.remount();
    expect(one.vm.done).toEqual([]);
  });

  it("is reported and not formatted if it is empty", async () => {
    const one = await here("vol-1");
    one.vm.devices.set("vol-1", "/dev/a");
    await one.managedDisk.save("vol-1");
    await one.remount();
    expect(one.vm.done).toEqual([]);
    expect(one.attention.problem()).toContain("it was not formatted");
  });

  it("is reported with the cause if it cannot be mounted", async () => {
    const one = await here("vol-1");
    one.attach("vol-1", "/dev/a");
    one.vm.fail = (deed) => {
      if (deed.startsWith("mount")) throw new Error("bad superblock");
    };
    await one.managedDisk.save("vol-1");
    await one.remount();
    expect(one.attention.problem()).toContain("bad superblock");
  });
});

describe("when only the agent was restarted, the disk on the store", () => {
  it("is left alone", async () => {
    const one = await here("vol-1");
    one.attach("vol-1", "/dev/a");
    one.isMounted("/dev/a1");
    await one.managedDisk.save("vol-1");
    await one.remount();
    expect(one.vm.done).toEqual([]);
    expect(one.attention.problem()).toBeUndefined();
  });

  it("is put on record when the agent was killed before it had done so", async () => {
    const one = await here("vol-1", "vol-2");
    one.attach("vol-1", "/dev/a");
    one.attach("vol-2", "/dev/b");
    one.isMounted("/dev/b1");
    await one.managedDisk.save("vol-1");
    await one.remount();
    expect(await one.managedDisk.load()).toBe("vol-2");
  });

  it("is writable again when a migration was killed", async () => {
    const one = await here("vol-1", "vol-2");
    one.attach("vol-1", "/dev/a");
    one.attach("vol-2", "/dev/b");
    one.isMounted("/dev/a1", one.paths.store, true);
    one.isMounted("/dev/b1", one.paths.migrationTarget);
    await one.managedDisk.save("vol-1");
    await one.remount();
    expect(one.vm.done).toEqual([`unmount ${one.paths.store}`, `mount /dev/a1 ${one.paths.store} noatime`]);
    expect(one.vm.mounts).toHaveLength(2);
  });

  it("gives its place to the new one when a migration was killed after its copy was put on record", async () => {
    const one = await here("vol-1", "vol-2");
    one.attach("vol-1", "/dev/a");
    one.attach("vol-2", "/dev/b");
    one.isMounted("/dev/a1", one.paths.store, true);
    one.isMounted("/dev/b1", one.paths.migrationTarget);
    await one.managedDisk.save("vol-2");
    await one.remount();
    expect(one.vm.mounts).toEqual([{ source: "/dev/b1", target: one.paths.store, readOnly: false }]);
    expect(await one.managedDisk.load()).toBe("vol-2");
    expect(one.attention.problem()).toBeUndefined();
  });

  it("comes from the migration target when a migration was killed before it was put in place", async () => {
    const one = await here("vol-1", "vol-2");
    one.attach("vol-1", "/dev/a");
    one.attach("vol-2", "/dev/b");
    one.isMounted("/dev/b1", one.paths.migrationTarget);
    await one.managedDisk.save("vol-2");
    await one.remount();
    expect(one.vm.mounts).toEqual([{ source: "/dev/b1", target: one.paths.store, readOnly: false }]);
    expect(one.attention.problem()).toBeUndefined();
  });

  it("comes back beside a new one that was not put on record", async () => {
    const one = await here("vol-1", "vol-2");
    one.attach("vol-1", "/dev/a");
    one.attach("vol-2", "/dev/b");
    one.isMounted("/dev/b1", one.paths.migrationTarget);
    await one.managedDisk.save("vol-1");
    await one.remount();
    expect(one.vm.mounts).toEqual([
      { source: "/dev/b1", target: one.paths.migrationTarget, readOnly: false },
      { source: "/dev/a1", target: one.paths.store, readOnly: false },
    ]);
  });

  it("is reported and left alone if the kernel made it read-only", async () => {
    const one = await here("vol-1");
    one.attach("vol-1", "/dev/a");
    one.isMounted("/dev/a1", one.paths.store, true);
    await one.managedDisk.save("vol-1");
    await one.remount();
    expect(one.vm.done).toEqual([]);
    expect(one.attention.problem()).toContain("read-only");
  });

  it("is reported and left alone if it is no known disk", async () => {
    const one = await here("vol-1");
    one.attach("vol-1", "/dev/a");
    one.isMounted("/dev/x1");
    await one.managedDisk.save("vol-1");
    await one.remount();
    expect(one.vm.done).toEqual([]);
    expect(one.attention.problem()).toContain("/dev/x1, which is no known disk");
  });
});
