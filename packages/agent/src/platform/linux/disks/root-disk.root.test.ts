import { mkdir, readFile, stat, statfs, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Exec } from "@slipway/kernel/exec";
import { needs } from "@slipway/testkit/needs";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { beforeEach, describe, expect, it } from "vitest";
import { type Paths, pathsUnder } from "../../../paths.ts";
import type { EphemeralRequest } from "../../disks.ts";
import { crashEverywhere } from "../../testing/crashes.ts";
import { LoopLab, loopsLack, pathHint, quickExec, soon } from "../../testing/loop-lab.ts";

sampleTests(1 / 4);

const ready = needs("root-loop", loopsLack() === "", `there is no ${loopsLack()}`);
const ON_ROOT = { CreatePartitionIfNoEphemeralDisk: true };

describe.runIf(ready)("the disk that the machine runs from", () => {
  let lab: LoopLab;
  let paths: Paths;
  beforeEach(async () => {
    lab = await LoopLab.open();
    paths = pathsUnder(join(lab.directory, "vcap"), join(lab.directory, "root"));
    return () => lab.close();
  });

  /** A disk with a root partition of that size, mounted where the agent sees its root. */
  async function machine(mib: number, rootMib: number, { label = "gpt", type = "ext4", name = "root" } = {}) {
    const device = await lab.disk(name, mib);
    await partition(device, `label: ${label}`, `start=2048, size=${rootMib}MiB, type=linux`);
    await lab.run("partx", "--update", device);
    await (type === "xfs"
      ? lab.run("mkfs.xfs", "-q", `${device}p1`)
      : lab.run("mke2fs", "-q", "-F", "-t", "ext4", `${device}p1`));
    await mount(device);
    for (const top of ["proc", "sys", "dev"]) await symlink(`/${top}`, join(paths.root, top));
    await writeFile(join(paths.root, "stemcell"), "precious");
    return device;
  }
  async function mount(device: string) {
    await mkdir(paths.root, { recursive: true });
    await lab.run("mount", `${device}p1`, paths.root);
  }
  const partition = async (device: string, ...lines: string[]) => {
    const input = `${lines.join("\n")}\n`;
    const done = await quickExec("sfdisk", ["--quiet", "--no-reread", device], { input });
    if (done.code !== 0) throw new Error(done.stderr);
  };
  const table = async (device: string) => {
    const { partitiontable } = JSON.parse(await lab.run("sfdisk", "--json", device)) as {
      partitiontable: { partitions: { name?: string; size: number; type: string }[] };
    };
    return partitiontable.partitions.map((one) => `${one.name ?? one.type} ${Math.floor(one.size / 2048)}`);
  };
  const rootMib = async () => {
    const { blocks, bsize } = await statfs(paths.root);
    return (blocks * bsize) / 1024 / 1024;
  };

  /** This machine gets no swap from a test. */
  const withoutSwap =
    (exec: Exec = quickExec): Exec =>
    async (program, args, options) =>
      program === "swapon"
        ? { program, args, code: 0, stdout: "", stderr: "" }
        : exec(program, args, options);
  const request = (more: Partial<EphemeralRequest> = {}): EphemeralRequest => ({
    hint: undefined,
    target: paths.data,
    swapMib: 64,
    agentId: "agent-1",
    signal: soon(),
    ...more,
  });
  const setUp = (more: Partial<EphemeralRequest> = {}, exec?: Exec) =>
    lab.platform(ON_ROOT, { paths, exec: withoutSwap(exec) }).setUpEphemeral(request(more));

  describe("growing the root file system", () => {
    const grow = (config = {}, exec: Exec = quickExec) => lab.platform(config, { paths, exec }).growRoot();

    it("grows the last partition of the disk, without unmounting it, once", async () => {
      const device = await machine(1024, 320, { type: "xfs" });
      expect(await rootMib()).toBeLessThan(320);
      await grow();
      expect(await rootMib()).toBeGreaterThan(900);
      expect(await readFile(join(paths.root, "stemcell"), "utf8")).toBe("precious");
      const programs: string[] = [];
      await grow({}, (program, args, options) => {
        programs.push(`${program} ${args[0]}`);
        return quickExec(program, args, options);
      });
      // The kernel writes the new size down when it likes, so that one may be asked again.
      expect(programs.filter((line) => !line.startsWith("xfs_growfs"))).toEqual(["sfdisk --json"]);
      expect((await table(device)).length).toBe(1);
    });

    it("completes the growth after it was cut off at any command", async () => {
      for (let at = 1; at <= 4; at++) {
        const device = await machine(640, 320, { type: "xfs" });
        let commands = 0;
        await grow({}, async (program, args, options) => {
          if (++commands > at) throw new Error("cut off");
          return quickExec(program, args, options);
        });
        await grow();
        expect(await rootMib(), `after ${at} commands`).toBeGreaterThan(500);
        await lab.run("umount", paths.root);
        await lab.detach(device);
      }
    });

    it("leaves a partition that is not last, and disks that the configuration leaves alone", async () => {
      const device = await machine(1024, 320, { type: "xfs" });
      await grow({ SkipDiskSetup: true });
      await quickExec("sfdisk", ["--quiet", "--no-reread", "--append", device], {
        input: "start=1026048, size=64MiB\n",
      });
      await grow();
      expect(await rootMib()).toBeLessThan(320);
    });

    it("reports why it cannot grow, and the machine goes on", async () => {
      await machine(640, 320);
      const exec: Exec = async (program, args, options) =>
        program === "resize2fs"
          ? { program, args, code: 1, stdout: "", stderr: "Permission denied to resize filesystem" }
          : quickExec(program, args, options);
      await grow({}, exec);
      expect(lab.log.lines.join("\n")).toContain("the root file system is not grown: ");
      await lab.platform({}).growRoot();
      expect(lab.log.lines.at(-1)).toContain("the root file system");
    });
  });

  describe("ephemeral data on the root disk", () => {
    it.each([
      ["gpt", ["bosh-partition-agent-1-0 64", /^bosh-partition-agent-1-1 1\d{3}$/]],
      ["dos", ["82 64", /^83 1\d{3}$/]],
    ])("uses the free space behind a %s table, and keeps it after a restart", async (label, expected) => {
      const device = await machine(2048, 256, { label });
      await setUp();
      const [root, ...made] = await table(device);
      expect(root).toMatch(/ 256$/);
      expect(made).toEqual(
        expected.map((one) => (typeof one === "string" ? one : expect.stringMatching(one))),
      );
      expect(await lab.run("findmnt", "-no", "FSTYPE", paths.data)).toBe("ext4\n");
      expect((await stat(paths.data)).mode & 0o777).toBe(0o750);
      await writeFile(join(paths.data, "file"), "kept");
      await lab.run("umount", paths.data);
      // A disk that appears later does not take over what this VM has begun.
      await setUp({ hint: pathHint(await lab.disk("late", 64)) });
      expect(await readFile(join(paths.data, "file"), "utf8")).toBe("kept");
      expect(await table(device)).toEqual([root, ...made]);
      expect(await readFile(join(paths.root, "stemcell"), "utf8")).toBe("precious");
    });

    it("uses the root disk if the settings name a disk that never comes, but not without permission", async () => {
      const device = await machine(1536, 256);
      const absent = { hint: pathHint("/dev/none") };
      const strict = lab.platform({}, { paths, exec: withoutSwap() });
      await expect(strict.setUpEphemeral(request(absent))).rejects.toMatchObject({ code: "AGD-012" });
      expect(await table(device)).toHaveLength(1);
      await setUp(absent);
      expect(await table(device)).toHaveLength(3);
    });

    it("finishes the setup after a crash at any command", async () => {
      const points = await crashEverywhere(quickExec, async (exec, point, run) => {
        const device = await machine(1536, 256, { label: "dos" });
        if (await run(() => setUp({}, exec))) {
          await setUp();
          expect(await lab.run("findmnt", "-no", "SOURCE", paths.data), point).toContain("p3");
          expect(await table(device), point).toHaveLength(3);
        }
        for (const target of [paths.data, paths.root]) await lab.run("umount", target);
        await lab.detach(device);
      });
      expect(points).toBeGreaterThan(3);
    });

    it("refuses too little free space", async () => {
      const device = await machine(1024, 256);
      await expect(setUp()).rejects.toThrow("Insufficient remaining disk space");
      expect(await table(device)).toHaveLength(1);
    });

    it("refuses content of others, in a partition or in space that no table shows", async () => {
      const device = await machine(2048, 256);
      const free = 257 * 1024 * 1024;
      const other = await lab.disk("other", 32);
      await lab.run("mke2fs", "-q", "-F", "-t", "ext4", other);
      await lab.writeAt(device, free, await readFile(lab.image("other")));
      await expect(setUp()).rejects.toThrow("ext4 in the space behind the root partition");
      await lab.writeAt(device, free, Buffer.alloc(1024 * 1024));
      await quickExec("sfdisk", ["--quiet", "--no-reread", "--append", device], {
        input: `start=${free / 512}, size=64MiB, name="data-of-somebody"\n`,
      });
      await expect(setUp()).rejects.toThrow(
        "partitions of others behind the root partition (data-of-somebody)",
      );
      expect(await table(device)).toHaveLength(2);
    });
  });
});
