import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemExec } from "@slipway/kernel/exec";
import { needs } from "@slipway/testkit/needs";
import { describe, expect, it } from "vitest";
import { ERRAND_RELEASE } from "./testing/errand-release.ts";
import { uploadReleaseDirectory, writeRelease } from "./testing/release-dir.ts";
import { canPlay } from "./testing/requirements.ts";
import { openWorld } from "./testing/world.ts";

const ready = await canPlay();
/** The CLI takes port 22 for given, which only root may have. */
const canEnter =
  ready &&
  needs(
    "sshd",
    existsSync("/usr/sbin/sshd") && existsSync("/usr/bin/ssh") && process.getuid?.() === 0,
    "openssh-server, its client, and root for port 22",
  );

/** Whatever a Director asks of an agent, on one VM after the other, with one disk. */
describe.runIf(ready)("an agent under a Director, with the real CLI", () => {
  const world = openWorld({ ownNetwork: canEnter });
  const jobs = ["talker", "smoke"].map((name) => ({ name, release: "checks" }));
  const deploy = (disk: "small" | "large") => world().deploy("shop", [{ name: "web", disk, jobs }]);
  const shop = (...command: readonly string[]) => world().bosh.run("-d", "shop", ...command);
  const web = async () => (await world().instances("shop"))[0] ?? {};
  const noted = async () => await readFile(world().disk((await web()).disk_cids ?? "", "precious"), "utf8");
  const runs = async () => {
    expect(await world().bosh.rows("-d", "shop", "instances", "--ps")).toMatchObject([
      { process_state: "running" },
      { process: "talker", process_state: "running" },
    ]);
  };

  it("runs its jobs after a deploy, on a VM with a disk", async () => {
    await world().seed();
    const release = join(world().dir, "checks");
    await writeRelease(release, ERRAND_RELEASE);
    await uploadReleaseDirectory(world(), release);
    await deploy("small");
    await runs();
    await writeFile(world().disk((await web()).disk_cids ?? "", "precious"), "kept");
  });

  it("is replaced by another, with the disk and the jobs", async () => {
    const before = await web();
    await shop("recreate");
    const after = await web();
    expect(after.vm_cid).not.toBe(before.vm_cid);
    expect(after.disk_cids).toBe(before.disk_cids);
    await runs();
    expect(await noted()).toBe("kept");
  });

  it("moves what is on its disk to a larger one", async () => {
    const before = await web();
    await deploy("large");
    const after = await web();
    expect(after.vm_cid).toBe(before.vm_cid);
    expect(after.disk_cids).not.toBe(before.disk_cids);
    await runs();
    expect(await noted()).toBe("kept");
  });

  it("runs an errand beside its jobs", async () => {
    const { rows } = await shop("run-errand", "smoke");
    expect(rows).toMatchObject([{ exit_code: "0", stdout: expect.stringContaining("all is well") }]);
    await runs();
  });

  it.runIf(canEnter)("lets somebody in", async () => {
    const { rows } = await shop("ssh", "web/0", "-c", "cat /var/vcap/store/precious", "--results");
    expect(rows).toMatchObject([{ stdout: expect.stringContaining("kept"), exit_code: "0" }]);
  });

  it("hands out the logs of its jobs", async () => {
    const to = join(world().dir, "logs");
    await mkdir(to);
    await shop("logs", "web/0", "--dir", to);
    const [archive = ""] = await readdir(to);
    const { stdout } = await systemExec("tar", ["-xzOf", join(to, archive), "./talker/talker.log"]);
    expect(stdout).toContain("talker start");
  });

  it("goes with its VM when that is stopped hard, and comes back with disk and jobs", async () => {
    const before = await web();
    await shop("stop", "--hard");
    expect(await web()).toMatchObject({ state: "detached", vm_cid: "" });
    await shop("start");
    expect(await web()).toMatchObject({ state: "started", disk_cids: before.disk_cids });
    await runs();
    expect(await noted()).toBe("kept");
  });

  it("that no longer answers is found by cloud-check, and its VM made anew with disk and jobs", async () => {
    const before = await web();
    const record = await readFile(world().cloud("vms", before.vm_cid ?? "", "process"), "utf8");
    process.kill((JSON.parse(record) as { pid: number }).pid, "SIGKILL");
    const { code, rows } = await world().bosh.say(
      ...["-d", "shop", "cloud-check", "--resolution", "recreate_vm"],
    );
    expect(rows).toMatchObject([{ type: "unresponsive_agent" }]);
    expect(code).toBe(0);
    const after = await web();
    expect(after.vm_cid).not.toBe(before.vm_cid);
    expect(after.disk_cids).toBe(before.disk_cids);
    await runs();
    expect(await noted()).toBe("kept");
  });
});
