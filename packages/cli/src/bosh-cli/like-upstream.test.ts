import { readFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { callCpi } from "./testing/call-cpi.ts";
import { cloudConfig, manifest } from "./testing/documents.ts";
import { canPlay } from "./testing/requirements.ts";
import { makeStemcell } from "./testing/stemcell.ts";
import { openWorld } from "./testing/world.ts";

/** Words, stages and events that scripts and operators know from upstream. */
describe.runIf(await canPlay())("what upstream's Director says, with the real CLI", () => {
  const world = openWorld();
  const shop = (...command: readonly string[]) => world().bosh.run("-d", "shop", ...command);
  const db = { name: "db", disk: "small" } as const;
  const task = { name: "once", lifecycle: "errand" } as const;

  describe("stemcells from an address", () => {
    let server: Server;
    let url: string;
    beforeAll(async () => {
      const { file } = await makeStemcell(world().dir, "2.0", "served");
      const content = await readFile(file);
      server = createServer((_, response) => response.end(content)).listen(0, "127.0.0.1");
      await new Promise((listening) => server.once("listening", listening));
      url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/served.tgz`;
    });
    afterAll(() => void server.close());

    it("fail in the task with the digest program's words", async () => {
      const { bosh } = world();
      const wrong = "0".repeat(40);
      const said = await bosh.refused("upload-stemcell", url, "--sha1", wrong);
      expect(said).toMatch(new RegExp(`Expected stream to have digest '${wrong}' but was '[0-9a-f]{40}'`));
      expect(said).toContain("Update stemcell: Verifying remote stemcell");
      expect(await bosh.refused("upload-stemcell", url, "--sha1", "md9:00")).toContain(
        "No digest algorithm found. Supported algorithms: sha1, sha256, sha512",
      );
    });

    it("are checked, uploaded and saved, and skipped when they come again", async () => {
      const first = (await world().bosh.run("upload-stemcell", url)).blocks;
      expect(first).toContain("Checking if this stemcell already exists");
      expect(first).toMatch(/Save stemcell served\/2\.0 \(\S+\)\n?/);
      expect(first).not.toContain("skipped");
      const second = (await world().bosh.run("upload-stemcell", url)).blocks;
      expect(second).toContain("Uploading stemcell served/2.0 to the cloud (already exists, skipped)");
      expect(second).toMatch(/Save stemcell served\/2\.0 \(\S+\) \(already exists, skipped\)/);
    });

    it("are refused when no CPI takes their format", async () => {
      const { bosh, dir } = world();
      const { file } = await makeStemcell(dir, "3.0", "other");
      const odd = join(dir, "odd.tgz");
      await bosh.run("repack-stemcell", file, odd, "--format", "odd-disk");
      expect(await bosh.refused("upload-stemcell", odd)).toMatch(
        /uploaded stemcell with formats \["odd-disk"\] are not supported by available cpi formats: \["/,
      );
    });
  });

  it("an empty cloud_properties of the compilation says nothing, an unknown az is named with the known ones", async () => {
    await world().seed();
    const config = cloudConfig(world().net) as { readonly compilation: object };
    const given = async (compilation: object) => {
      const file = await world().file("cloud.yml", { ...config, compilation });
      await world().bosh.run("update-cloud-config", file);
    };
    await given({ ...config.compilation, az: "z9" });
    const refused = await world().bosh.refused("-d", "shop", "deploy", await world().manifest("shop", db));
    expect(refused).toContain("Compilation config references unknown az 'z9'. Known azs are: [z1]");
    await given({ ...config.compilation, cloud_properties: {} });
    await world().deploy("shop", [db, task]);
  });

  it("vms --cloud-properties shows what the CPI has made of vm_resources", async () => {
    const sized = manifest("sized", { name: "web" }) as { readonly instance_groups: readonly object[] };
    const [{ vm_type: _, ...web }] = sized.instance_groups as [{ readonly vm_type: string }];
    const resources = { cpu: 2, ram: 512, ephemeral_disk_size: 1024 };
    const groups = { ...sized, instance_groups: [{ ...web, vm_resources: resources }] };
    await world().bosh.run("-d", "sized", "deploy", await world().file("sized.yml", groups));
    const [row] = await world().bosh.rows("-d", "sized", "vms", "--cloud-properties");
    for (const [key, value] of Object.entries(resources))
      expect(row?.cloud_properties).toMatch(new RegExp(`${key}"?: ${value}`));
    await world().bosh.run("-d", "sized", "delete-deployment");
  });

  it("isolated actions tell what is done to the instance, step by step", async () => {
    const [{ instance = "" } = {}] = await world().instances("shop");
    const stage = (what: string) => `Updating instance ${instance} (0): ${what}`;
    const stop = await shop("stop", instance, "--no-converge");
    expect(stop.blocks).toContain(stage("Stopping instance"));
    expect(stop.blocks).not.toContain("Preparing deployment");
    expect((await shop("start", instance, "--no-converge")).blocks).toContain(stage("Starting instance"));
    const { blocks } = await shop("recreate", instance, "--no-converge");
    const told = ["Stopping instance", "Deleting VM", "Creating VM", "Starting instance"].map(stage);
    expect(told.map((one) => blocks.indexOf(one)).every((at, i, all) => at > (all[i - 1] ?? -1))).toBe(true);
  });

  it("isolated actions are refused for errands", async () => {
    expect(await world().bosh.refused("-d", "shop", "stop", "once/0", "--no-converge")).toContain(
      "Isolated stop can not be run on instances of type errand. Try the bosh run-errand command.",
    );
  });

  it("task --cpi shows no certificate, and no disks of a VM that has none", async () => {
    const said = (await shop("recreate", "db/0", "--no-converge")).task;
    const { blocks } = await world().bosh.run("task", said, "--cpi");
    expect(blocks).toContain('"method":"create_vm"');
    expect(blocks).not.toContain("-----BEGIN");
    expect(blocks).not.toContain('"disks":{}');
    for (const kind of ["--event", "--debug", "--result"])
      expect((await world().bosh.run("task", said, kind)).text).not.toContain("-----BEGIN");
  });

  it("orphan-disk skips what nobody has, and leaves alone what is in use", async () => {
    const { bosh } = world();
    expect((await bosh.run("orphan-disk", "disk-nobody-has")).text).toContain(
      "Disk disk-nobody-has does not exist. Orphaning is skipped",
    );
    const [{ disk_cids: cid = "", instance = "" } = {}] = await world().instances("shop");
    expect(await bosh.refused("orphan-disk", cid)).toContain(`disk '${cid}' is in use by ${instance}`);
    await shop("stop", "db/0", "--no-converge");
    expect(await bosh.refused("-d", "shop", "attach-disk", instance, "disk-gone")).toContain(
      "the cloud has no disk 'disk-gone'",
    );
    await bosh.run("orphan-disk", cid);
    expect((await bosh.run("delete-disk", cid)).blocks).toContain(
      `Deleting orphaned disks: Deleting orphaned disk ${cid}`,
    );
    await shop("start", "db/0", "--no-converge");
  });

  it("attach-disk takes a disk that nobody knew, and delete-disk one that the cloud has lost", async () => {
    const { bosh } = world();
    const [{ instance = "" } = {}] = await world().instances("shop");
    await shop("stop", "db/0", "--no-converge");
    const made = String(await callCpi(world(), "create_disk", 64, {}, null));
    const attached = await bosh.run("-d", "shop", "attach-disk", instance, made);
    expect(attached.blocks).toContain(`Attaching disk: ${made} to ${instance}`);
    const [task] = await bosh.rows("tasks", "--recent=1", "--all");
    expect(task?.result).toBe(`attached disk '${made}' to '${instance}' in deployment 'shop'`);
    const [taken] = await world().instances("shop");
    expect(taken?.disk_cids).toBe(made);
    await bosh.run("orphan-disk", made);
    await callCpi(world(), "delete_disk", made);
    expect((await bosh.run("delete-disk", made)).blocks).toContain(
      `Deleting orphaned disks: Deleting orphaned disk ${made}`,
    );
    const orphans = await bosh.rows("disks", "--orphaned");
    expect(orphans.map(({ disk_cid }) => disk_cid)).not.toContain(made);
    await shop("start", "db/0", "--no-converge");
  });

  describe("events", () => {
    const eventsOf = (...filter: readonly string[]) => world().bosh.rows("events", ...filter);
    /** `3 <- 1` is how the CLI shows a parent. */
    const childOf = (id: string | undefined) => / <- (\d+)$/.exec(id ?? "")?.[1];

    it("come in pairs, the second linked to the first", async () => {
      const { task: deploy } = await world().deploy("shop", [{ ...db, instances: 2 }, task]);
      const rows = await eventsOf("--task", deploy);
      const ids = new Map(rows.map((row) => [/^\d+/.exec(row.id ?? "")?.[0], row]));
      const seen = rows.flatMap((row) => {
        const parent = ids.get(childOf(row.id) ?? "");
        return parent === undefined ? [] : [[row.action, row.object_type, parent.action, parent.object_type]];
      });
      for (const [action, type] of [
        ["update", "deployment"],
        ["create", "instance"],
        ["create", "vm"],
        ["create", "disk"],
      ])
        expect(seen).toContainEqual([action, type, action, type]);
      const [made] = rows.filter(({ action, object_type }) => action === "create" && object_type === "vm");
      expect(made?.object_name).toMatch(/^vm-/);
    });

    it("tell of locks, and what a deploy used before and after it", async () => {
      const { task: deploy } = await world().deploy("shop", [db, task]);
      const rows = await eventsOf("--task", deploy);
      const locks = rows.filter(({ object_type: type }) => type === "lock");
      expect(locks.map(({ action, object_name: name, deployment }) => [action, name, deployment])).toEqual([
        ["release", "lock:deployment:shop", "shop"],
        ["acquire", "lock:deployment:shop", "shop"],
      ]);
      const ended = rows.find(
        ({ id, object_type: type }) => type === "deployment" && childOf(id) !== undefined,
      );
      expect(ended?.context).toMatch(/after:\s+stemcells:[\s\S]*before:\s+stemcells:/);
    });

    it("tell of starts of the Director and its workers", async () => {
      const rows = await eventsOf("--action", "start", "--event-user", "_director");
      expect(rows.map(({ object_type: type }) => type)).toEqual(["worker", "director"]);
      expect(rows[1]?.context).toMatch(/version: /);
    });

    it("tell of configs that were refused, and have no context of those that were not", async () => {
      const bad = join(world().dir, "bad.yml");
      await world().file("bad.yml", []);
      await world().bosh.refused("update-config", "--type", "cloud", "--name", "bad", bad);
      const rows = await eventsOf("--object-type", "config/cloud");
      expect(rows.filter(({ object_name: name }) => name === "bad")).toEqual([]);
      const all = await eventsOf("--object-type", "config/cloud", "--action", "create");
      expect(all.map(({ context }) => context)).not.toContainEqual(expect.stringMatching(/\S/));
    });
  });
});
