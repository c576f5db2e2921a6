import { mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Exec, systemExec } from "@slipway/kernel/exec";
import type { LinuxConfig } from "@slipway/protocol/agent/agent-config";
import { fakeClock } from "@slipway/testkit/fake-clock";
import { needs } from "@slipway/testkit/needs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Paths, pathsUnder } from "../../../paths.ts";
import type { MemoryRequest } from "../../platform.ts";
import { BadTmpfsSize, SecondBoot } from "../../system-errors.ts";
import { crashEverywhere } from "../../testing/crashes.ts";
import { LoopLab, loopsLack } from "../../testing/loop-lab.ts";
import { linuxLayout } from "./linux-layout.ts";

const ready = needs("root-loop", loopsLack() === "", `there is no ${loopsLack()}`);

describe.runIf(ready)("the directories of a machine", () => {
  let lab: LoopLab;
  let paths: Paths;
  beforeEach(async () => {
    lab = await LoopLab.open();
    const root = join(lab.directory, "root");
    paths = pathsUnder(join(root, "var", "vcap"), root);
    for (const place of [
      "var/log",
      "var/tmp",
      "var/opt",
      "var/vcap/data",
      "opt",
      "tmp",
      "home",
      "etc",
      "dev/shm",
    ])
      await mkdir(join(root, place), { recursive: true });
    await symlink("/proc", join(root, "proc"));
    await writeFile(
      paths.system("etc", "passwd"),
      "root:x:0:0::/root:/bin/sh\n_chrony:x:990:991::/var/lib/chrony:/bin/false\n",
    );
    await writeFile(paths.system("etc", "group"), "root:x:0:\nvcap:x:1000:\nsyslog:x:1001:\nutmp:x:1002:\n");
    await mkdir(paths.boshDir, { recursive: true });
  });
  afterEach(() => lab.close());

  const layout = (config: LinuxConfig = {}, exec = systemExec) =>
    linuxLayout({ config, paths, exec, clock: fakeClock({ hurry: true }), log: lab.log });
  const flags = async (...place: string[]) => {
    const found = await systemExec("findmnt", ["-no", "VFS-OPTIONS", "--mountpoint", paths.system(...place)]);
    return found.stdout
      .trim()
      .split(",")
      .filter((flag) => /^no(dev|suid|exec)$/.test(flag))
      .sort();
  };
  const facts = async (...path: string[]) => {
    const { mode, uid, gid } = await stat(join(...path));
    return `${(mode & 0o7777).toString(8)} ${uid}:${gid}`;
  };
  const NO_PROGRAMS = ["nodev", "noexec", "nosuid"];

  describe("of its system", () => {
    it("have logs on the ephemeral disk, with upstream's owners and modes, once however often it is done", async () => {
      for (const _ of [1, 2]) await layout().systemDirectories();
      await writeFile(paths.system("var", "log", "syslog"), "line");
      expect(await readFile(join(paths.data, "root_log", "syslog"), "utf8")).toBe("line");
      expect(await flags("var", "log")).toEqual(NO_PROGRAMS);
      const logs = paths.system("var", "log");
      const names = ["", "audit", "sysstat", "btmp", "wtmp", "lastlog", "chrony"];
      expect(await Promise.all(names.map((name) => facts(logs, name)))).toEqual([
        "771 0:1001",
        "750 0:0",
        "755 0:0",
        "600 0:1002",
        "664 0:1002",
        "664 0:1002",
        "700 990:991",
      ]);
      const table = await readFile("/proc/self/mountinfo", "utf8");
      expect(table.split("\n").filter((line) => line.split(" ")[4] === logs)).toHaveLength(1);
    });

    it("have what is logged kept when it is done again", async () => {
      await layout().systemDirectories();
      await writeFile(paths.system("var", "log", "wtmp"), "who was there");
      await layout().systemDirectories();
      expect(await readFile(paths.system("var", "log", "wtmp"), "utf8")).toBe("who was there");
    });

    it("have room for programs where the image has none, and otherwise what the image has", async () => {
      await writeFile(paths.system("opt", "program"), "of the image");
      await layout().systemDirectories();
      expect(await flags("var", "opt")).toEqual(["nodev"]);
      expect(await readdir(paths.system("opt"))).toEqual(["program"]);
      expect(lab.log.lines.join("\n")).toContain("opt stays on the root disk: the image has program in it");
    });

    it("have shared memory from which nothing is run", async () => {
      await lab.run("mount", "-t", "tmpfs", "tmpfs", paths.system("dev", "shm"));
      await layout().systemDirectories();
      expect(await flags("dev", "shm")).toEqual(NO_PROGRAMS);
    });

    it("are whole after a crash at any command", async () => {
      const points = await crashEverywhere(systemExec, async (exec, point, run) => {
        if (await run(() => layout({}, exec).systemDirectories())) {
          await layout().systemDirectories();
          expect(await flags("var", "log"), point).toEqual(NO_PROGRAMS);
          expect(await flags("opt"), point).toEqual(["nodev"]);
        }
        for (const place of [["var", "log"], ["var", "opt"], ["opt"]])
          await lab.run("umount", paths.system(...place));
      });
      expect(points).toBeGreaterThan(3);
    });

    it("stay as they are in a container that may not mount, and fail the start of a machine that may not", async () => {
      const exec: Exec = async (program, args) => ({
        program,
        args,
        code: 32,
        stdout: "",
        stderr: "mount: permission denied",
      });
      const container = layout({ SkipDiskSetup: true }, exec);
      const asked = { runSize: undefined, jobs: false, jobsSize: undefined, settings: false };
      await container.systemDirectories();
      await container.memory(asked);
      await container.temporary();
      expect(lab.log.lines.filter((line) => line.includes("directories stay where they are"))).toHaveLength(
        3,
      );
      await expect(container.memory({ ...asked, jobs: true })).rejects.toThrow("permission denied");
      await expect(layout({}, exec).systemDirectories()).rejects.toThrow("permission denied");
    });

    it("are logged to by the stemcell's program, if it has one", async () => {
      const calls: string[] = [];
      const exec = async (program: string, args: readonly string[]) => {
        calls.push(program);
        return { program, args, code: 0, stdout: "", stderr: "" };
      };
      await layout({}, exec).startLogging();
      const program = join(paths.boshDir, "bin", "bosh-start-logging-and-auditing");
      await mkdir(join(paths.boshDir, "bin"));
      await writeFile(program, "");
      await layout({}, exec).startLogging();
      expect(calls).toEqual([program]);
    });
  });

  describe("for what is temporary", () => {
    it("are one on the ephemeral disk, for everybody, from which nothing is run", async () => {
      for (const _ of [1, 2]) await layout().temporary();
      await writeFile(paths.system("tmp", "file"), "x");
      expect(await readdir(paths.system("var", "tmp"))).toEqual(["file"]);
      expect(await readdir(join(paths.data, "root_tmp"))).toEqual(["file"]);
      expect(await facts(paths.system("tmp"))).toBe("1777 0:1000");
      for (const place of [["tmp"], ["var", "tmp"]]) expect(await flags(...place)).toEqual(NO_PROGRAMS);
      expect(await flags("home")).toEqual(["nodev", "nosuid"]);
    });

    it("stay where they are when the configuration says so, or when something is mounted there", async () => {
      await layout({ UseDefaultTmpDir: true }).temporary();
      expect(await flags("tmp")).toEqual([]);
      expect(await facts(paths.system("tmp"))).toBe("1777 0:1000");
      await lab.run("mount", "-t", "tmpfs", "tmpfs", paths.system("tmp"));
      await layout().temporary();
      expect(await lab.run("findmnt", "-no", "FSTYPE", "--mountpoint", paths.system("tmp"))).toBe("tmpfs\n");
      expect(await flags("var", "tmp")).toEqual(NO_PROGRAMS);
    });
  });

  describe("in memory", () => {
    const request: MemoryRequest = { runSize: undefined, jobs: false, jobsSize: undefined, settings: false };
    const size = async (path: string) =>
      (await systemExec("findmnt", ["-bno", "SIZE", "--mountpoint", path])).stdout.trim();
    const MIB = 1024 * 1024;

    it("are the run directories, and jobs where the settings ask for it, in upstream's sizes or theirs", async () => {
      const run = join(paths.data, "sys", "run");
      for (const _ of [1, 2]) await layout().memory(request);
      expect([await size(run), await facts(run)]).toEqual([`${16 * MIB}`, "750 0:1000"]);
      expect(await size(join(paths.data, "jobs"))).toBe("");
      await layout().memory({ ...request, jobs: true, jobsSize: "2m" });
      expect(await size(join(paths.data, "jobs"))).toBe(`${2 * MIB}`);
      expect([await size(paths.sensitiveBlobs), await facts(paths.sensitiveBlobs)]).toEqual([
        `${2 * MIB}`,
        "700 0:1000",
      ]);
    });

    it("are never of a size that is something else", async () => {
      for (const runSize of ["16m,exec", "-1", "a lot"])
        await expect(layout().memory({ ...request, runSize })).rejects.toSatisfy(BadTmpfsSize.is);
    });

    it.each([{ jobs: true }, { settings: true }])(
      "are lost with a reboot, after which a VM with %j does not start; a restart of its agent is no reboot",
      async (kept) => {
        for (const _ of [1, 2]) await layout().memory({ ...request, ...kept });
        await lab.run("umount", join(paths.boshDir, "canrestart"));
        for (const _ of [1, 2])
          await expect(layout().memory({ ...request, ...kept })).rejects.toSatisfy(SecondBoot.is);
        await layout().memory(request);
      },
    );
  });
});
