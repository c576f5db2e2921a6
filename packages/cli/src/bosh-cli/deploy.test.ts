import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { canPlay } from "./testing/requirements.ts";
import { openWorld } from "./testing/world.ts";

const UTC = expect.stringMatching(/ UTC \d{4}$/);

describe.runIf(await canPlay())("a deployment, from first to last, with the real CLI", () => {
  const world = openWorld();
  const diffOf = (lines: readonly string[]) => lines.filter((line) => /^[ +-] .*\n$/.test(line)).join("");
  let firstDeploy = "";

  it("a dry run says what would be done and why, and does nothing", async () => {
    await world().seed();
    const before = await world().gate.calls();
    const { blocks } = await world().deploy("shop", [{ name: "db", disk: "small" }], "--dry-run");
    expect(blocks).toMatch(/Planned, not done: +\+ db\/[0-9a-f-]{36} \(0\): new instance; no downtime/);
    expect(blocks).toContain("Plan: 1 to create.");
    expect(await world().gate.calls()).toEqual(before);
    expect(await world().instances("shop")).toEqual([]);
  });

  it("deploys what the diff shows: everything, as nothing was there", async () => {
    const { net } = world();
    const said = await world().deploy("shop", [{ name: "db", disk: "small" }]);
    firstDeploy = said.task;
    const diff = diffOf(said.lines);
    expect(diff).not.toMatch(/^-/m);
    for (const part of [
      "+ azs:\n+ - name: z1\n",
      `+     range: ${net}.0/24\n`,
      "+ stemcells:\n+ - alias: default\n+   os: local\n+   version: '1.0'\n",
      "+   persistent_disk_type: small\n",
      "+ name: shop\n",
    ])
      expect(diff).toContain(part);
    expect(said.blocks).toMatch(/Creating missing vms: db\/[0-9a-f-]{36} \(0\)/);
    expect(said.blocks).toMatch(/Updating instance db: db\/[0-9a-f-]{36} \(0\) \(canary\)/);
    expect(said.text).toContain(`Task ${said.task} done`);
  });

  it("shows deployments, instances and vms", async () => {
    const { bosh, net } = world();
    expect(await bosh.rows("deployments")).toEqual([
      { name: "shop", release_s: "", stemcell_s: "story/1.0", team_s: "" },
    ]);
    const [db] = await world().instances("shop");
    expect(db).toEqual({
      instance: expect.stringMatching(/^db\/[0-9a-f-]{36}$/),
      deployment: "shop",
      az: "z1",
      ips: `${net}.2`,
      state: "started",
      process_state: "",
      vm_cid: expect.stringMatching(/^vm-/),
      vm_type: "default",
      disk_cids: expect.stringMatching(/^disk-/),
      agent_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      index: "0",
      bootstrap: "true",
      ignore: "false",
    });
    expect(existsSync(world().cloud("vms", db?.vm_cid ?? ""))).toBe(true);
    expect(await bosh.rows("-d", "shop", "vms")).toEqual([
      {
        instance: db?.instance,
        az: "z1",
        ips: `${net}.2`,
        process_state: "",
        vm_cid: db?.vm_cid,
        vm_type: "default",
        active: "true",
        stemcell: "story/1.0",
      },
    ]);
    const [vitals] = await bosh.rows("-d", "shop", "vms", "--vitals");
    expect(vitals?.memory_usage ?? "").toMatch(/%/);
    expect(await bosh.refused("-d", "nowhere", "instances")).toMatch(/nowhere/);
  });

  it("shows manifest, tasks and what each task has said", async () => {
    const { bosh } = world();
    expect((await bosh.run("-d", "shop", "manifest")).blocks).toContain("persistent_disk_type: small");
    const recent = await bosh.rows("tasks", "--recent");
    expect(recent.find(({ id }) => id === firstDeploy)).toEqual({
      id: firstDeploy,
      state: "done",
      started_at: UTC,
      finished_at: UTC,
      user: "admin",
      deployment: "shop",
      description: "create deployment",
      result: "/deployments/shop",
    });
    expect(recent.at(-1)).toMatchObject({ description: "create stemcell", result: "/stemcells/story/1.0" });
    const task = async (kind: string) => (await bosh.run("task", firstDeploy, kind)).blocks;
    expect(await task("--debug")).toMatch(/create_vm of db\/[0-9a-f-]{36} \(0\)/);
    const cpi = await task("--cpi");
    expect(cpi).toMatch(/request: \{"method":"create_vm"/);
    expect(cpi).toMatch(/response: \{"result":/);
    expect(cpi).not.toContain("PRIVATE KEY");
    const events = (await task("--event"))
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(events[0]).toMatchObject({ stage: "Preparing deployment", state: "started", progress: 0 });
    expect(events.at(-1)).toMatchObject({ stage: "Updating instance", tags: ["db"], state: "finished" });
    expect((await bosh.run("task", firstDeploy, "--result")).code).toBe(0);
    const vms = await bosh.run("-d", "shop", "vms");
    expect((await bosh.run("task", vms.task, "--result")).blocks).toContain('"job_name":"db"');
    expect(await bosh.rows("tasks")).toEqual([]);
    expect(await bosh.refused("task", "9999")).toMatch(/10000/);
  });

  it("changes nothing when nothing has changed: no call that does anything, no diff", async () => {
    const before = await world().instances("shop");
    const vm = before[0]?.vm_cid ?? "";
    const calls = await world().gate.calls();
    const heard = await world().agentLog(vm);
    const { lines, blocks } = await world().deploy("shop", [{ name: "db", disk: "small" }]);
    expect(diffOf(lines)).toBe("");
    expect(blocks).not.toContain("Updating instance");
    expect(await world().gate.calls()).toEqual(calls);
    expect(await world().agentLog(vm)).toBe(heard);
    expect(await world().instances("shop")).toEqual(before);
  });

  it("scales up, and the diff is that alone", async () => {
    const [db] = await world().instances("shop");
    const { lines } = await world().deploy("shop", [{ name: "db", disk: "small", instances: 2 }]);
    expect(diffOf(lines)).toBe("  instance_groups:\n  - name: db\n-   instances: 1\n+   instances: 2\n");
    const [same, added] = await world().instances("shop");
    expect(same).toEqual(db);
    expect(added).toMatchObject({
      index: "1",
      ips: `${world().net}.3`,
      state: "started",
      bootstrap: "false",
    });
  });

  it("scales down and keeps the disk of the one that goes", async () => {
    const { bosh } = world();
    const [db, other] = await world().instances("shop");
    await world().deploy("shop", [{ name: "db", disk: "small" }]);
    expect(await world().instances("shop")).toEqual([db]);
    expect(existsSync(world().cloud("vms", other?.vm_cid ?? ""))).toBe(false);
    expect(await bosh.rows("disks", "--orphaned")).toEqual([
      {
        disk_cid: other?.disk_cids,
        size: "1.0 GiB",
        deployment: "shop",
        instance: other?.instance,
        az: "z1",
        orphaned_at: UTC,
      },
    ]);
    expect(await bosh.refused("disks")).toContain("Only --orphaned is supported");
    await bosh.run("delete-disk", other?.disk_cids ?? "");
    expect(await bosh.rows("disks", "--orphaned")).toEqual([]);
    expect(existsSync(world().disk(other?.disk_cids ?? ""))).toBe(false);
  });

  it("gives an instance a larger disk with everything that was on the old one", async () => {
    const [db] = await world().instances("shop");
    const old = db?.disk_cids ?? "";
    await writeFile(world().disk(old, "precious"), "kept");
    const { lines } = await world().deploy("shop", [{ name: "db", disk: "large" }]);
    expect(diffOf(lines)).toContain("-   persistent_disk_type: small\n+   persistent_disk_type: large\n");
    const [grown] = await world().instances("shop");
    expect(grown?.vm_cid).toBe(db?.vm_cid);
    expect(grown?.disk_cids).not.toBe(old);
    expect(await readFile(world().disk(grown?.disk_cids ?? "", "precious"), "utf8")).toBe("kept");
    const orphans = await world().bosh.rows("disks", "--orphaned");
    expect(orphans.map(({ disk_cid }) => disk_cid)).toEqual([old]);
    expect(await readFile(world().disk(old, "precious"), "utf8")).toBe("kept");
  });

  it("makes a new VM for another vm type, with the same disk", async () => {
    const [db] = await world().instances("shop");
    await world().deploy("shop", [{ name: "db", disk: "large", vmType: "other" }]);
    const [moved] = await world().instances("shop");
    expect(moved).toMatchObject({ vm_type: "other", disk_cids: db?.disk_cids, ips: db?.ips });
    expect(moved?.vm_cid).not.toBe(db?.vm_cid);
    expect(await readFile(world().disk(db?.disk_cids ?? "", "precious"), "utf8")).toBe("kept");
  });

  it("has written down who did what", async () => {
    const { bosh } = world();
    const events = await bosh.rows("-d", "shop", "events");
    const seen = events.map((event) => `${event.action} ${event.object_type}`);
    for (const expected of [
      "create deployment",
      "update deployment",
      "create vm",
      "delete vm",
      "create disk",
    ])
      expect(seen).toContain(expected);
    expect(seen).toContain("orphan disk");
    expect(events.every(({ user, deployment }) => user === "admin" && deployment === "shop")).toBe(true);
    const [vm] = await world().instances("shop");
    const created = events.find(
      ({ action, object_name: name }) => action === "create" && name === vm?.vm_cid,
    );
    expect(created).toMatchObject({
      object_type: "vm",
      time: UTC,
      task_id: expect.stringMatching(/^\d+$/),
      error: "",
    });
    const [event] = await bosh.rows("event", /^\d+/.exec(created?.id ?? "")?.[0] ?? "");
    expect(event).toMatchObject({ object_name: vm?.vm_cid });
  });

  it("refuses manifests with a word on what is wrong, and leaves what is there", async () => {
    const { bosh, dir } = world();
    const before = await world().instances("shop");
    const calls = await world().gate.calls();
    const wrong: readonly (readonly [object, RegExp])[] = [
      [{ instance_groups: [{ name: "db", instances: "many" }] }, /instances/],
      [{ stemcells: [{ alias: "default", os: "beos", version: "latest" }] }, /beos/],
      [
        { instance_groups: [{ name: "db", instances: 1, azs: ["z9"], networks: [{ name: "private" }] }] },
        /z9/,
      ],
    ];
    const good = JSON.parse(await readFile(`${dir}/shop.yml`, "utf8")) as object;
    for (const [change, says] of wrong) {
      const path = await world().file("wrong.yml", { ...good, ...change });
      expect(await bosh.refused("-d", "shop", "deploy", path)).toMatch(says);
    }
    expect(await world().instances("shop")).toEqual(before);
    expect(await world().gate.calls()).toEqual(calls);
  });

  it("is deleted, with its VMs, and its disk is kept in the orphan list", async () => {
    const { bosh } = world();
    const [db] = await world().instances("shop");
    expect(await bosh.refused("delete-stemcell", "story/1.0")).toContain("in use by: shop");
    const said = await bosh.run("-d", "shop", "delete-deployment");
    expect(said.blocks).toContain(`Deleting instances: ${db?.instance} (0)`);
    expect(await bosh.rows("deployments")).toEqual([]);
    expect(existsSync(world().cloud("vms", db?.vm_cid ?? ""))).toBe(false);
    const orphans = (await bosh.rows("disks", "--orphaned")).map(({ disk_cid }) => disk_cid);
    expect(orphans).toContain(db?.disk_cids);
    expect(await readFile(world().disk(db?.disk_cids ?? "", "precious"), "utf8")).toBe("kept");
    await bosh.run("delete-stemcell", "story/1.0");
    expect(await bosh.rows("stemcells")).toEqual([]);
    expect((await bosh.run("-d", "shop", "delete-deployment")).code).toBe(0);
  });
});
