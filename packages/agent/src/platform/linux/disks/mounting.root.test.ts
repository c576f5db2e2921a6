import { spawn } from "node:child_process";
import { once } from "node:events";
import { open, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Exec, systemExec } from "@slipway/kernel/exec";
import { fakeClock } from "@slipway/testkit/fake-clock";
import { needs } from "@slipway/testkit/needs";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { beforeEach, describe, expect, it } from "vitest";
import type { DiskPlatform } from "../../disks.ts";
import { diskSettings, LoopLab, loopsLack, pathHint, soon } from "../../testing/loop-lab.ts";
import { type DeviceNodes, systemNodes } from "./device-nodes.ts";

sampleTests(1 / 4);

const WHOLE = { UseWholePersistentDisk: true };
const ready = needs("root-loop", loopsLack() === "", `there is no ${loopsLack()}`);

describe.runIf(ready)("mounting", () => {
  let lab: LoopLab;
  let disks: DiskPlatform;
  let store: string;
  beforeEach(async () => {
    lab = await LoopLab.open();
    disks = lab.platform(WHOLE);
    store = lab.paths.store;
    return () => lab.close();
  });

  async function disk(name: string): Promise<string> {
    const device = await lab.disk(name, 16);
    await disks.prepare(device, diskSettings(name, pathHint(device)));
    return device;
  }
  const mounted = async () =>
    (await disks.mounts()).filter((mount) => mount.target.startsWith(lab.directory));

  it("mounts with the options asked for, and once however often it is asked", async () => {
    const device = await disk("a");
    await disks.mount(device, store, ["noatime", "nodev"]);
    await disks.mount(device, store, ["noatime", "nodev"]);
    expect(await mounted()).toEqual([{ source: device, target: store, readOnly: false }]);
    expect((await lab.run("findmnt", "-no", "OPTIONS", store)).trim()).toMatch(/nodev,noatime/);
    expect((await lab.run("findmnt", "-no", "TARGET", device)).trim().split("\n")).toEqual([store]);
  });

  it("makes a mount point that only root can enter", async () => {
    const device = await disk("a");
    const seen: number[] = [];
    const exec: Exec = async (program, args, options) => {
      if (program === "mount") seen.push((await stat(store)).mode & 0o777);
      return systemExec(program, args, options);
    };
    await lab.platform(WHOLE, { exec }).mount(device, store, []);
    expect(seen).toEqual([0o700]);
  });

  it("has on the disk what was written when it is unmounted, though another mount namespace keeps it mounted", async () => {
    const device = await disk("a");
    await disks.mount(device, store, []);
    const script = ["--mount", "--propagation", "private", "sh", "-c", "echo up; exec cat"];
    const holder = spawn("unshare", script);
    await once(holder.stdout, "data");
    await writeFile(join(store, "data"), "precious");
    await disks.unmount(store, soon());
    // As whoever detaches it finds it.
    await lab.run("cp", "--sparse=always", lab.image("a"), lab.image("b"));
    holder.kill("SIGKILL");
    await once(holder, "exit");
    expect(await lab.marked(await lab.attach("b"))).toBe("precious");
    expect(lab.log.lines.join("\n")).toMatch(/still mounted in another mount namespace/);
  });

  it("covers up nothing and mounts no disk twice", async () => {
    const [a, b] = [await disk("a"), await disk("b")];
    await disks.mount(a, store, []);
    await expect(disks.mount(b, store, [])).rejects.toThrow(`${a} is mounted there`);
    await expect(disks.mount(a, lab.paths.migrationTarget, [])).rejects.toThrow(
      `mounted on ${store} already`,
    );
  });

  it("mounts once when asked twice at the same time", async () => {
    const device = await disk("a");
    await Promise.all([disks.mount(device, store, []), disks.mount(device, store, [])]);
    await lab.run("umount", store);
    expect(await mounted()).toEqual([]);
  });

  it("does not mount a write-protected device unless read-only was asked for", async () => {
    const device = await disk("a");
    await lab.run("blockdev", "--setro", device);
    await expect(disks.mount(device, store, [])).rejects.toMatchObject({ code: "AGD-014" });
    expect(await mounted()).toEqual([]);
    await disks.mount(device, store, ["ro"]);
    expect(await mounted()).toEqual([{ source: device, target: store, readOnly: true }]);
  });

  it("does not prepare a disk that is mounted", async () => {
    const device = await disk("a");
    await disks.mount(device, store, []);
    await lab.resize(device, 64);
    await disks.prepare(device, diskSettings("a", pathHint(device)));
    expect(await mounted()).toHaveLength(1);
  });

  it("waits for a device that is busy only in a mount namespace that was just made", async () => {
    const device = await disk("a");
    await disks.mount(device, store, []);
    await disks.remountReadOnly(store);
    const copy = spawn("unshare", ["--mount", "sh", "-c", "echo copied; exec cat"], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    const ended = once(copy, "exit");
    try {
      await once(copy.stdout, "data");
      await disks.unmount(store, soon());
      let tries = 0;
      const exec: Exec = async (program, args, options) => {
        if (program === "mount" && ++tries === 3) {
          copy.stdin.end();
          await ended;
        }
        return systemExec(program, args, options);
      };
      await lab.platform(WHOLE, { exec }).mount(device, store, []);
      expect(tries).toBe(3);
      expect(await mounted()).toEqual([{ source: device, target: store, readOnly: false }]);
    } finally {
      copy.kill();
    }
  });

  it("unmounts, also what is mounted on top, and takes nothing mounted for success", async () => {
    const [a, b] = [await disk("a"), await disk("b")];
    await disks.mount(a, store, []);
    await lab.run("mount", b, store);
    await disks.unmount(store, soon());
    expect(await mounted()).toEqual([]);
    await disks.unmount(store, soon());
  });

  it("waits for a busy mount until it is left", async () => {
    const device = await disk("a");
    await disks.mount(device, store, []);
    const file = await open(join(store, "log"), "w");
    let tries = 0;
    const exec: Exec = async (program, args, options) => {
      if (program === "umount" && ++tries === 4) await file.close();
      return systemExec(program, args, options);
    };
    await lab.platform(WHOLE, { exec }).unmount(store, new AbortController().signal);
    expect(tries).toBe(4);
    expect(await mounted()).toEqual([]);
    const told = lab.log.lines.filter((line) => line.includes(`held by: process ${process.pid} (`));
    expect(told).toHaveLength(1);
  });

  it("says who holds a mount that stays busy until the deadline, and leaves it mounted", async () => {
    const device = await disk("a");
    await disks.mount(device, store, []);
    const file = await open(join(store, "log"), "w");
    const clock = fakeClock({ hurry: true });
    const deadline = new AbortController();
    clock.after(20_000, () => deadline.abort(new Error("20 s are over")));
    const work = lab.platform(WHOLE, { clock }).unmount(store, deadline.signal);
    await expect(work).rejects.toThrow(`process ${process.pid} (`);
    await expect(work).rejects.toThrow(`has ${store}/log open`);
    expect(await mounted()).toHaveLength(1);
    await file.close();
  });

  it("makes a mount read-only, or says who writes to it", async () => {
    const device = await disk("a");
    await disks.mount(device, store, []);
    const file = await open(join(store, "log"), "w");
    await expect(disks.remountReadOnly(store)).rejects.toThrow(`has ${store}/log open`);
    await file.close();
    await disks.remountReadOnly(store);
    await disks.remountReadOnly(store);
    expect(await mounted()).toEqual([{ source: device, target: store, readOnly: true }]);
    await expect(writeFile(join(store, "log"), "x")).rejects.toMatchObject({ code: "EROFS" });
  });

  it("makes a mount writable again that a killed migration left read-only", async () => {
    const device = await disk("a");
    await disks.mount(device, store, []);
    await disks.remountReadOnly(store);
    await disks.mount(device, store, []);
    await writeFile(join(store, "log"), "x");
    await lab.run("mount", "-o", "remount,ro", store);
    await lab.run("blockdev", "--setro", device);
    await expect(disks.mount(device, store, [])).rejects.toMatchObject({ code: "AGD-014" });
  });

  it("names the partition of a disk whose node has another name than the kernel's", async () => {
    const device = await lab.disk("a", 16);
    const number = (await lab.run("stat", "-c", "%Hr:%Lr", device)).trim();
    const node = join(lab.directory, "bosh-disk");
    await lab.run("mknod", node, "b", ...number.split(":"));
    expect(await lab.platform().mountSource(node)).toBe(`${device}p1`);
  });

  it("finds a loop device by the file behind it, by the node in the hint if that is still the right one", async () => {
    const [a, b] = [await lab.disk("disk-abc123", 16), await lab.disk("xyz789", 16)];
    const node = join(lab.directory, "bosh-disk-abc123");
    const number = (await lab.run("stat", "-c", "%Hr:%Lr", a)).trim();
    await lab.run("mknod", node, "b", ...number.split(":"));
    const hint = { kind: "path", path: node, extra: { dev: "7:4095" } } as const;
    expect(await disks.locate(diskSettings(lab.cid("abc123"), hint), soon())).toBe(node);
    // The host started again and gave the number to another disk: the node is stale.
    expect(await disks.locate(diskSettings(lab.cid("xyz789"), hint), soon())).toBe(b);
  });

  it("makes the node that a hint names for a device number", async () => {
    const device = await lab.disk("disk-abc123", 16);
    const number = (await lab.run("stat", "-c", "%Hr:%Lr", device)).trim();
    const hidden: DeviceNodes = {
      numberOf: async (path) => (path === device ? undefined : systemNodes.numberOf(path)),
    };
    const node = join(lab.directory, "node");
    const hint = { kind: "path", path: node, extra: { dev: number } } as const;
    const found = await lab
      .platform(WHOLE, { nodes: hidden })
      .locate(diskSettings(lab.cid("abc123"), hint), soon());
    expect(found).toBe(node);
    expect(await systemNodes.numberOf(node)).toBe(number);
  });

  it("does not believe a number that leads to another disk's file", async () => {
    const device = await lab.disk("disk-xyz789", 16);
    const dev = (await lab.run("stat", "-c", "%Hr:%Lr", device)).trim();
    const hint = { kind: "opaque", extra: { dev } } as const;
    const work = disks.locate(diskSettings(lab.cid("abc123"), hint), soon());
    await expect(work).rejects.toThrow(
      `it is a loop device over ${lab.cid("disk-xyz789")}.img, which is another disk`,
    );
  });
});
