import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chown,
  link,
  lutimes,
  mkdir,
  readdir,
  readFile,
  stat,
  symlink,
  truncate,
  utimes,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { type Exec, systemExec } from "@slipway/kernel/exec";
import { needs } from "@slipway/testkit/needs";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { beforeEach, describe, expect, it } from "vitest";
import type { DiskPlatform } from "../../disks.ts";
import { Crash } from "../../testing/crashes.ts";
import { diskSettings, LoopLab, loopsLack, pathHint } from "../../testing/loop-lab.ts";
import { differences } from "./compare-trees.ts";

sampleTests(1 / 4);

const WHOLE = { UseWholePersistentDisk: true };
const ready = needs("root-loop", loopsLack() === "", `there is no ${loopsLack()}`);

describe.runIf(ready)("copying a disk", () => {
  let lab: LoopLab;
  let disks: DiskPlatform;
  let from: string;
  let to: string;
  beforeEach(async () => {
    lab = await LoopLab.open();
    disks = lab.platform(WHOLE);
    from = lab.paths.store;
    to = lab.paths.migrationTarget;
    return () => lab.close();
  });

  async function mount(name: string, mib: number, type: string, target: string): Promise<void> {
    const device = await lab.disk(name, mib);
    await disks.prepare(device, diskSettings(name, pathHint(device), type));
    await disks.mount(device, target, []);
  }

  /** One of everything a disk may hold. */
  async function fill(): Promise<void> {
    await mkdir(join(from, "jobs/postgres"), { recursive: true });
    await writeFile(join(from, "jobs/postgres/conf"), "secret\n", { mode: 0o640 });
    await chown(join(from, "jobs/postgres/conf"), 1000, 1001);
    await writeFile(join(from, "setuid"), "#!/bin/true\n");
    await lab.run("chmod", "4755", join(from, "setuid"));
    await link(join(from, "jobs/postgres/conf"), join(from, "hard"));
    await symlink("/nowhere", join(from, "dangling"));
    await lutimes(join(from, "dangling"), 1000, 2000);
    await lab.run("mkfifo", join(from, "fifo"));
    await lab.run("mknod", join(from, "null"), "c", "1", "3");
    await lab.run("setfattr", "-n", "user.note", "-v", "kept", join(from, "jobs/postgres/conf"));
    await lab.run("setfattr", "-n", "trusted.note", "-v", "kept too", join(from, "jobs"));
    await writeFile(join(from, "sparse"), "head");
    await truncate(join(from, "sparse"), 8 * 1024 * 1024);
    await writeFile(
      Buffer.concat([Buffer.from(`${from}/`), Buffer.from([0xff, 0xfe, 0x0a, 0x20])]),
      "odd name",
    );
    await lab.run("touch", "-d", "2001-02-03 04:05:06.123456789", join(from, "setuid"));
    await utimes(join(from, "jobs"), 5000, 6000);
  }

  it.each([
    ["ext4", "xfs"],
    ["xfs", "ext4"],
  ])("keeps all that a file has, from %s to %s", async (a, b) => {
    await mount("a", a === "xfs" ? 320 : 32, a, from);
    await mount("b", b === "xfs" ? 320 : 32, b, to);
    await fill();
    await disks.remountReadOnly(from);
    await disks.copy(from, to);
    expect(await differences(systemExec, from, to)).toEqual([]);
    const sparse = await stat(join(to, "sparse"));
    expect(sparse.blocks * 512).toBeLessThan(1024 * 1024);
    expect((await stat(join(to, "hard"))).ino).toBe((await stat(join(to, "jobs/postgres/conf"))).ino);
    const attributes = await lab.run("getfattr", "-d", "-m", "-", "--absolute-names", join(to, "jobs"));
    expect(attributes).toContain('trusted.note="kept too"');
  });

  it("says that a disk is too small, leaves the source as it was, and succeeds into a larger one", async () => {
    await mount("a", 32, "", from);
    await mount("small", 16, "", to);
    await writeFile(join(from, "big"), Buffer.alloc(20 * 1024 * 1024, 7));
    await disks.remountReadOnly(from);
    await expect(disks.copy(from, to)).rejects.toMatchObject({ code: "AGD-011" });
    expect((await readFile(join(from, "big"))).equals(Buffer.alloc(20 * 1024 * 1024, 7))).toBe(true);
    await lab.run("umount", to);
    await mount("large", 64, "", to);
    await disks.copy(from, to);
    expect((await stat(join(to, "big"))).size).toBe(20 * 1024 * 1024);
  });

  it("carries on over what an interrupted copy left", async () => {
    await mount("a", 32, "", from);
    await mount("b", 32, "", to);
    await fill();
    const half: Exec = async (program, args, options) => {
      const result = await systemExec(program, args, options);
      if (program !== "cp") return result;
      await writeFile(join(to, "setuid"), "cut off");
      await lab.run("rm", join(to, "hard"), join(to, "dangling"));
      await writeFile(join(to, "hard"), "");
      throw new Crash("in the middle of cp");
    };
    await expect(lab.platform(WHOLE, { exec: half }).copy(from, to)).rejects.toThrow(Crash);
    await disks.copy(from, to);
    expect(await differences(systemExec, from, to)).toEqual([]);
  });

  it("waits for the cp of a killed agent, also while that holds nothing open", async () => {
    await mount("a", 32, "ext4", from);
    await mount("b", 32, "ext4", to);
    await writeFile(join(from, "data"), "kept");
    // Between two files cp is nothing but its name and arguments.
    const orphan = spawn(process.execPath, ["-e", "setInterval(() => {}, 1e6)", to], { argv0: "cp" });
    await once(orphan, "spawn");
    await expect(disks.copy(from, to)).rejects.toThrow(`process ${orphan.pid} (cp, copies to ${to})`);
    expect(await readdir(to)).toEqual(["lost+found"]);
    orphan.kill("SIGKILL");
    await once(orphan, "exit");
    await disks.copy(from, to);
    expect(await readFile(join(to, "data"), "utf8")).toBe("kept");
  });

  it("takes a copy that cp calls good, and is not, for a failure", async () => {
    await mount("a", 16, "", from);
    await mount("b", 16, "", to);
    await writeFile(join(from, "data"), "original");
    const lying: Exec = async (program, args, options) => {
      const result = await systemExec(program, args, options);
      if (program === "cp") await lab.writeAt(join(to, "data"), 3, Buffer.from("X"));
      return result;
    };
    const work = lab.platform(WHOLE, { exec: lying }).copy(from, to);
    await expect(work).rejects.toMatchObject({ code: "AGD-010" });
  });

  it("deletes nothing that it finds in the target, but does not call that a copy", async () => {
    await mount("a", 16, "", from);
    await mount("b", 16, "", to);
    await writeFile(join(to, "somebody's"), "data");
    await expect(disks.copy(from, to)).rejects.toThrow("somebody's: is only in the copy");
    expect(await readdir(to)).toContain("somebody's");
  });
});
