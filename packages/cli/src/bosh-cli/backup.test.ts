import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { databaseOf } from "@slipway/director/store/embedded/left-behind";
import { systemClock } from "@slipway/kernel/clock";
import { systemExec } from "@slipway/kernel/exec";
import { fractionsOf } from "@slipway/testkit/sample";
import { describe, expect, it } from "vitest";
import { endLeftovers } from "./testing/leftovers.ts";
import { canPlay, PROGRAMS } from "./testing/requirements.ts";
import { openWorld } from "./testing/world.ts";

const NOTE = "/deployments/shop/instance_groups/db/0/store?path=precious";

describe.runIf(await canPlay())("backup and restore of a Director, with the real CLI", () => {
  const world = openWorld();
  const file = () => join(world().dir, "director.backup");
  const config = () => ["--config", join(world().dir, "director.json")];
  const slipway = (...args: readonly string[]) =>
    systemExec(process.execPath, [PROGRAMS.slipway, ...args], {
      env: { SLIPWAY_HOME: join(world().dir, "none") },
    });

  it("is taken while a deploy runs, which goes on", async () => {
    await world().seed();
    await world().deploy("shop", [{ name: "db", disk: "small" }]);
    const precious = join(world().dir, "precious");
    await writeFile(precious, "kept");
    await world().bosh.run("curl", "-X", "PUT", "--body", precious, NOTE);
    await world().gate.hold("create_vm");
    const deploy = world().deploy("bank", [{ name: "web" }]);
    await world().gate.held("create_vm");
    const { code, stdout, stderr } = await slipway(
      "backup",
      ...config(),
      "--state-dir",
      world().state(),
      file(),
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/\d+ tables, \d+ rows/);
    await world().gate.release("create_vm");
    await deploy;
  });

  it("killed at any moment, a restore has left nothing that keeps the next one from being whole", async () => {
    await world().director.kill();
    await endLeftovers(world().state(), world().cloud("none"));
    const elsewhere = join(world().dir, "elsewhere");
    const args = ["restore", ...config(), "--state-dir", elsewhere, file()];
    const next = fractionsOf("restore killed");
    for (let kill = 0; kill < 3; kill++) {
      const child = spawn(process.execPath, [PROGRAMS.slipway, ...args], { stdio: "ignore" });
      const ended = once(child, "close");
      await Promise.race([ended, systemClock.sleep(200 + next() * 4000)]);
      child.kill("SIGKILL");
      await ended;
      if (existsSync(elsewhere)) break;
    }
    const again = existsSync(elsewhere) ? ["--replace"] : [];
    const { code, stdout } = await slipway(...args, ...again);
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining("Restored ") });
    const left = (await readdir(world().dir)).filter((name) => /restoring|restore\.lock/.test(name));
    expect(left).toEqual([]);
    expect(await databaseOf(elsewhere)).toBeUndefined();
  });

  it("the task that ran then has ended, and a deployment is changed once its cloud was looked at", async () => {
    world().moveTo("elsewhere");
    await world().start();
    const tasks = await world().bosh.rows("tasks", "--recent", "--all");
    expect(tasks.filter(({ state }) => state === "error")).toMatchObject([
      { deployment: "bank", result: expect.stringContaining("The Director was restored from a backup of") },
    ]);
    const manifest = await world().manifest("shop", { name: "db", disk: "small" });
    const refused = await world().bosh.refused("-d", "shop", "deploy", "--recreate", manifest);
    expect(refused).toContain("nobody has looked since at what the cloud has of shop");
    expect(refused).toContain("bosh -d shop cloud-check");
    // Numbers that the earlier life may have given away are not used again.
    expect(Number(/Task (\d+)/.exec(refused)?.[1])).toBeGreaterThan(1_000_000);
    const status = JSON.parse((await world().bosh.run("curl", "/director/status")).blocks) as object;
    expect(status).toMatchObject({ restored: { not_looked_at: ["bank", "shop"] } });
  });

  it("goes on with its VMs, their disks and what is on them", async () => {
    const [before = {}] = await world().instances("shop");
    expect(before).toMatchObject({ state: "started" });
    expect((await world().bosh.say("-d", "shop", "cloud-check", "--report")).rows).toEqual([]);
    expect((await world().bosh.run("curl", NOTE)).blocks).toBe("kept");
    await world().deploy("shop", [{ name: "db", disk: "small" }], "--recreate");
    const [after = {}] = await world().instances("shop");
    expect(after).toMatchObject({ disk_cids: before.disk_cids, state: "started" });
    expect(after.vm_cid).not.toBe(before.vm_cid);
    expect((await world().bosh.run("curl", NOTE)).blocks).toBe("kept");
  });

  it("a VM that was made after the backup is found, and adopted because its agent says whose it is", async () => {
    const check = (...flags: readonly string[]) => world().bosh.say("-d", "bank", "cloud-check", ...flags);
    const report = await check("--report");
    expect(report.code).toBe(1);
    const vms = new Set(await readdir(world().cloud("vms")));
    const [found = {}] = report.rows;
    expect(report.rows).toHaveLength(1);
    expect(found).toMatchObject({
      type: "unrecorded_vm",
      description: expect.stringMatching(/no record names it/),
    });
    const cid = /cloud ID '([^']+)'/.exec(found.description ?? "")?.[1] ?? "";
    expect(vms.has(cid)).toBe(true);
    const manifest = await world().manifest("bank", { name: "web" });
    expect(await world().bosh.refused("-d", "bank", "deploy", manifest)).toContain("nobody has looked since");

    expect((await check("--auto")).blocks).toContain("Skip for now");
    const adopted = await check("--resolution", "adopt_vm");
    expect(adopted.code).toBe(0);
    expect((await check("--report")).rows).toEqual([]);
    expect((await world().instances("bank"))[0]).toMatchObject({ vm_cid: cid, state: "started" });
    await world().bosh.run("-d", "bank", "deploy", manifest);
    expect(await readdir(world().cloud("vms"))).toHaveLength(vms.size);
  });
});
