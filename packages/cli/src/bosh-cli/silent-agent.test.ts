import { readFile, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { canPlay } from "./testing/requirements.ts";
import { openWorld } from "./testing/world.ts";

describe.runIf(await canPlay())("an agent that has died, with the real CLI", () => {
  const world = openWorld();
  const db = [{ name: "db", disk: "small", instances: 2 }] as const;
  const both = async () => {
    const [zero = {}, one = {}] = await world().instances("shop");
    return { zero, one };
  };
  const killAgent = async (vm: string | undefined) => {
    const pid = Number(await readFile(world().cloud("vms", vm ?? "", "pid"), "utf8"));
    process.kill(-pid, "SIGKILL");
  };

  it("is shown, is not gone on without, and gets a new VM with --fix", async () => {
    await world().seed();
    await world().deploy("shop", db);
    const { zero, one } = await both();
    const disk = zero.disk_cids ?? "";
    await writeFile(world().disk(disk, "precious"), "kept");
    await killAgent(zero.vm_cid);
    expect((await both()).zero).toEqual({ ...zero, process_state: "unresponsive agent" });

    const manifest = await world().manifest("shop", ...db);
    const refusal = await world().bosh.refused("-d", "shop", "deploy", manifest);
    expect(refusal).toContain(zero.instance);
    expect(refusal).toContain("--fix");
    expect((await both()).zero.vm_cid).toBe(zero.vm_cid);

    await world().deploy("shop", db, "--fix");
    const after = await both();
    expect(after.zero).toMatchObject({ state: "started", process_state: "", disk_cids: disk, ips: zero.ips });
    expect(after.zero.vm_cid).not.toBe(zero.vm_cid);
    expect(after.one).toEqual(one);
    expect(await readFile(world().disk(disk, "precious"), "utf8")).toBe("kept");
  });

  it("does not keep a deployment from being deleted with --force, and its disk is kept", async () => {
    const { zero, one } = await both();
    await killAgent(one.vm_cid);
    const refusal = await world().bosh.refused("-d", "shop", "delete-deployment");
    expect(refusal).toMatch(
      /does not answer.*Next: With `.*--force` its VM is deleted without being stopped/,
    );
    await world().bosh.run("-d", "shop", "delete-deployment", "--force");
    expect(await world().bosh.rows("deployments")).toEqual([]);
    const orphans = (await world().bosh.rows("disks", "--orphaned")).map(({ disk_cid }) => disk_cid);
    expect(orphans.sort()).toEqual([zero.disk_cids, one.disk_cids].sort());
  });
});
