import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { canPlay } from "./testing/requirements.ts";
import { openWorld } from "./testing/world.ts";

describe.runIf(await canPlay())(
  "instances stopped, started, made anew, and their disks, with the real CLI",
  () => {
    const world = openWorld({ director: { enable_cpi_resize_disk: true } });
    const db = [{ name: "db", disk: "small", instances: 2 }] as const;
    const shop = (...command: readonly string[]) => world().bosh.run("-d", "shop", ...command);
    const both = async () => {
      const [zero = {}, one = {}] = await world().instances("shop");
      return { zero, one };
    };

    it("stops one instance and keeps its VM", async () => {
      await world().seed();
      await world().deploy("shop", db);
      const before = await both();
      const { blocks } = await shop("stop", "db/0");
      expect(blocks).toContain(`L stopping jobs: ${before.zero.instance} (0)`);
      const after = await both();
      expect(after.zero).toEqual({ ...before.zero, state: "stopped", process_state: "stopped" });
      expect(after.one).toEqual(before.one);
      expect(await world().agentLog(before.zero.vm_cid ?? "")).toMatch(/ drain from .*\n.* stop from /);
    });

    it("tells what the VMs use, and what runs in them, when it is asked to", async () => {
      const [row] = await world().bosh.rows("-d", "shop", "instances", "--ps", "--vitals");
      expect(row?.memory_usage).toMatch(/%/);
      expect(row).toHaveProperty("process");
    });

    it("leaves it stopped at the next deploy, and starts it when told", async () => {
      const before = await both();
      await world().deploy("shop", db);
      expect(await both()).toEqual(before);
      await shop("start", "db/0");
      expect((await both()).zero).toEqual({ ...before.zero, state: "started", process_state: "" });
    });

    it("stops hard: the VM goes, disk and address stay, and start brings it back", async () => {
      const { zero } = await both();
      await shop("stop", "--hard", zero.instance ?? "");
      const gone = (await both()).zero;
      expect(gone).toMatchObject({ state: "detached", vm_cid: "", agent_id: "", disk_cids: zero.disk_cids });
      expect(existsSync(world().cloud("vms", zero.vm_cid ?? ""))).toBe(false);
      expect(await world().bosh.rows("-d", "shop", "vms")).toHaveLength(1);
      await shop("start");
      const back = (await both()).zero;
      expect(back).toMatchObject({ state: "started", disk_cids: zero.disk_cids, ips: zero.ips });
      expect(back.vm_cid).toMatch(/^vm-/);
      expect(back.vm_cid).not.toBe(zero.vm_cid);
    });

    it("restarts a group in its VMs", async () => {
      const before = await both();
      const { blocks } = await shop("restart", "db");
      expect(blocks).toContain(`L starting jobs: ${before.one.instance} (1)`);
      expect(await both()).toEqual(before);
    });

    it("recreates one instance, with its disk", async () => {
      const { zero, one } = await both();
      await writeFile(world().disk(zero.disk_cids ?? "", "precious"), "kept");
      await shop("recreate", "db/0");
      const after = await both();
      expect(after.one).toEqual(one);
      expect(after.zero).toMatchObject({ disk_cids: zero.disk_cids, ips: zero.ips, state: "started" });
      expect(after.zero.vm_cid).not.toBe(zero.vm_cid);
      expect(await readFile(world().disk(zero.disk_cids ?? "", "precious"), "utf8")).toBe("kept");
    });

    it("does the same to one instance without looking at the others", async () => {
      const { zero, one } = await both();
      const id = zero.instance ?? "";
      await shop("stop", "--no-converge", id);
      expect((await both()).zero).toMatchObject({ state: "stopped", vm_cid: zero.vm_cid });
      await shop("start", "--no-converge", id);
      await shop("recreate", "--no-converge", id);
      const after = await both();
      expect(after.zero).toMatchObject({ state: "started", disk_cids: zero.disk_cids });
      expect(after.zero.vm_cid).not.toBe(zero.vm_cid);
      expect(after.one).toEqual(one);
    });

    it("leaves ignored instances alone", async () => {
      const before = await both();
      await shop("ignore", before.zero.instance ?? "");
      expect((await both()).zero.ignore).toBe("true");
      await world().deploy("shop", db, "--recreate");
      const after = await both();
      expect(after.zero).toEqual({ ...before.zero, ignore: "true" });
      expect(after.one.vm_cid).not.toBe(before.one.vm_cid);
      expect(after.one.disk_cids).toBe(before.one.disk_cids);
      expect(await world().bosh.refused("-d", "shop", "delete-deployment")).toMatch(/ignored.*unignore/);
      await shop("unignore", before.zero.instance ?? "");
      expect((await both()).zero.ignore).toBe("false");
    });

    it("orphans a disk and attaches it again, with what is on it", async () => {
      const { bosh } = world();
      const { zero, one } = await both();
      const cid = zero.disk_cids ?? "";
      expect(await bosh.refused("orphan-disk", cid)).toMatch(/stop/);
      // The CLI takes a refusal for success when the orphan list does not have the disk.
      await bosh.run("delete-disk", cid);
      expect(await readFile(world().disk(cid, "precious"), "utf8")).toBe("kept");
      expect(await bosh.refused("-d", "shop", "attach-disk", "db/0", cid)).toMatch(/stop/);
      await shop("stop", "db/0");
      await bosh.run("orphan-disk", cid);
      expect((await bosh.rows("disks", "--orphaned")).map(({ disk_cid }) => disk_cid)).toEqual([cid]);
      expect((await both()).zero.disk_cids).toBe("");
      expect(await bosh.refused("-d", "shop", "attach-disk", "db/0", one.disk_cids ?? "")).toContain(
        one.instance,
      );
      await shop("attach-disk", zero.instance ?? "", cid);
      expect(await bosh.refused("-d", "shop", "attach-disk", "db/0", "disk-none")).toMatch(
        /no disk 'disk-none'/,
      );
      expect(await bosh.rows("disks", "--orphaned")).toEqual([]);
      expect((await both()).zero).toMatchObject({ disk_cids: cid, vm_cid: zero.vm_cid });
      await shop("start", "db/0");
      expect(await both()).toMatchObject({ zero: { ...zero, state: "started" } });
      expect(await readFile(world().disk(cid, "precious"), "utf8")).toBe("kept");
    });

    it("puts another disk in the place of one, which is orphaned and can be deleted", async () => {
      const { bosh } = world();
      const { zero, one } = await both();
      await world().deploy("shop", [{ ...db[0], instances: 1 }]);
      await shop("stop", "db/0");
      await shop("attach-disk", "db/0", one.disk_cids ?? "", "--disk-properties=copy");
      await shop("start", "db/0");
      expect((await both()).zero).toMatchObject({ disk_cids: one.disk_cids, state: "started" });
      expect((await bosh.rows("disks", "--orphaned")).map(({ disk_cid }) => disk_cid)).toEqual([
        zero.disk_cids,
      ]);
      await bosh.run("delete-disk", zero.disk_cids ?? "");
      expect(await bosh.rows("disks", "--orphaned")).toEqual([]);
      expect(existsSync(world().disk(zero.disk_cids ?? ""))).toBe(false);
      const { blocks } = await world().deploy("shop", [{ ...db[0], instances: 1 }]);
      expect(blocks).not.toContain("disk");
    });

    it("grows a disk in its place where the CPI can", async () => {
      const { zero } = await both();
      await writeFile(world().disk(zero.disk_cids ?? "", "precious"), "kept");
      await world().deploy("shop", [{ name: "db", disk: "large" }]);
      expect((await both()).zero).toEqual(zero);
      expect(await world().gate.calls()).toContain("resize_disk");
      expect(await readFile(world().cloud("disks", zero.disk_cids ?? "", "size"), "utf8")).toBe("2048");
      expect(await readFile(world().disk(zero.disk_cids ?? "", "precious"), "utf8")).toBe("kept");
      expect(await world().bosh.rows("disks", "--orphaned")).toEqual([]);
    });

    it("keeps three named disks over recreate, and orphans only the one that is dropped", async () => {
      const disksOf = async () => {
        const [row = {}] = await world().instances("vault");
        return (row.disk_cids ?? "").split(/\s+/).sort();
      };
      await world().deploy("vault", [{ name: "store", namedDisks: ["data", "index", "log"] }]);
      const made = await disksOf();
      expect(made).toHaveLength(3);
      for (const cid of made) await writeFile(world().disk(cid, "precious"), cid);
      await world().bosh.run("-d", "vault", "recreate", "store/0");
      expect(await disksOf()).toEqual(made);
      await world().deploy("vault", [{ name: "store", namedDisks: ["data", "log"] }]);
      const left = await disksOf();
      expect(left).toHaveLength(2);
      const orphaned = (await world().bosh.rows("disks", "--orphaned")).map(({ disk_cid }) => disk_cid);
      expect([...left, ...orphaned].sort()).toEqual(made);
      for (const cid of made) expect(await readFile(world().disk(cid, "precious"), "utf8")).toBe(cid);
    });
  },
);
