import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { cloudConfig } from "./testing/documents.ts";
import { canPlay, PROGRAMS } from "./testing/requirements.ts";
import { makeStemcell } from "./testing/stemcell.ts";
import { openWorld, READER } from "./testing/world.ts";

/** The Director's own cloud is `east` from the second story on; `west` is another. Both are local CPIs. */
describe.runIf(await canPlay())("several clouds with the real CLI", () => {
  const world = openWorld({ clouds: { programs: { local: PROGRAMS.cpi }, names: ["west"] } });
  const bosh = (...command: readonly string[]) => world().bosh.run(...command);
  const local = (dir: string) => ({ local: { dir, agent: PROGRAMS.agent, disks: "directory" } });
  const east = () => ({
    ...{ name: "east", type: "local", properties: local(world().cloud()) },
    migrated_from: [{ name: "" }],
  });
  const west = () => ({ name: "west", type: "local", properties: local(world().otherCloud("west")) });
  const file = (name: string, document: object) => world().file(name, document);
  const cpis = async (...list: readonly object[]) => await file("cpis.yml", { cpis: list });
  const zones = async (z1?: string, z2?: string) => {
    const azs = Object.entries({ z1, z2 }).map(([name, cpi]) => ({
      name,
      ...(cpi !== undefined && { cpi }),
    }));
    await bosh("update-cloud-config", await file("cloud.yml", cloudConfig(world().net, azs)));
  };
  const db = { name: "db", disk: "small" as const };
  const web = { name: "web", azs: ["z2"] };
  const vms = async (where: "east" | "west") =>
    (
      await readdir(where === "east" ? world().cloud("vms") : world().otherCloud("west", "vms")).catch(
        () => [],
      )
    ).length;
  const cids = async () => {
    const rows = await world().bosh.rows("-d", "shop", "instances", "--details");
    return Object.fromEntries(
      rows.map(({ instance = "", vm_cid = "", disk_cids = "" }) => {
        return [instance.split("/")[0], { vm: vm_cid, disk: disk_cids }];
      }),
    );
  };

  it("a CPI config that cannot be used is refused in upstream's words", async () => {
    const refused = async (document: object) =>
      await world().bosh.refused("update-cpi-config", await file("cpis.yml", document));
    expect(await refused({})).toContain("Required property 'cpis' was not specified in object");
    expect(await refused({ cpis: [west(), west()] })).toContain("Duplicate cpi name 'west'");
    expect(await refused({ cpis: [{ ...west(), exec_path: "/bin/sh" }] })).toContain("may not run /bin/sh");
    expect(await world().bosh.refused("cpi-config")).toContain("No CPI config");
  });

  it("what was deployed before has a CPI of the config, by migrated_from", async () => {
    await world().seed();
    await world().deploy("shop", [db]);
    const before = await cids();
    await writeFile(world().disk(before.db?.disk ?? "", "kept"), "kept");
    await bosh("update-cpi-config", await cpis(east(), west()));
    expect((await bosh("cpi-config")).blocks).toContain("migrated_from");
    expect(await world().bosh.refused("-d", "shop", "deploy", await world().manifest("shop", db))).toContain(
      "AZ 'z1' must specify a CPI when CPI config is defined",
    );
    await zones("east", "west");
    await world().deploy("shop", [db]);
    expect(await cids()).toEqual(before);
  });

  it("a stemcell goes to every CPI, and to the one that came later when it is uploaded again", async () => {
    expect(
      await world().bosh.refused("-d", "shop", "deploy", await world().manifest("shop", db, web)),
    ).toMatch(/not found for cpi west, please upload again/);
    const { file: stemcell } = await makeStemcell(world().dir, "1.0");
    const { task } = await bosh("upload-stemcell", stemcell);
    const { text, blocks } = await bosh("task", task);
    for (const step of ["Uploading stemcell story/1.0 to the cloud", "Save stemcell story/1.0"]) {
      expect(text + blocks).toMatch(new RegExp(`${step}.* \\(cpi: east\\) \\(already exists, skipped\\)`));
      expect(text + blocks).toMatch(new RegExp(`${step}.* \\(cpi: west\\)`));
    }
    const rows = await world().bosh.rows("stemcells");
    expect(rows.map(({ cpi }) => cpi).sort()).toEqual(["", "west"]);
    expect((await bosh("upload-stemcell", stemcell)).text).toContain("already exists");
  });

  it("zones go to their CPIs", async () => {
    await world().deploy("shop", [db, web]);
    expect([await vms("east"), await vms("west")]).toEqual([1, 1]);
    const { web: made } = await cids();
    expect(await readdir(world().otherCloud("west", "vms"))).toEqual([made?.vm]);
  });

  it("an instance moves to another cloud, but not with its disk", async () => {
    const before = await cids();
    await zones("east", "east");
    await world().deploy("shop", [db, web]);
    expect([await vms("east"), await vms("west")]).toEqual([2, 0]);
    await zones("west", "east");
    const said = await world().bosh.refused("-d", "shop", "deploy", await world().manifest("shop", db, web));
    expect(said).toContain(`its persistent disk '${before.db?.disk}' is with CPI 'east' and cannot`);
    expect(said).toContain("migrated_from");
    expect((await cids()).db).toEqual(before.db);
    // Without it the instance moves, and the disk is orphaned.
    await world().deploy("shop", [{ name: "db" }, web]);
    expect([await vms("east"), await vms("west")]).toEqual([1, 1]);
    expect((await world().bosh.rows("disks", "--orphaned")).map(({ disk_cid }) => disk_cid)).toEqual([
      before.db?.disk,
    ]);
    // And back, with what is on it.
    await zones("east", "east");
    await world().deploy("shop", [db, web]);
    await bosh("-d", "shop", "stop", "db/0");
    await bosh("-d", "shop", "attach-disk", "db/0", before.db?.disk ?? "");
    await bosh("-d", "shop", "start", "db/0");
    expect(await readdir(world().disk((await cids()).db?.disk ?? ""))).toContain("kept");
  });

  it("a VM is deleted by hand where it is, and cloud-check makes it anew there", async () => {
    await zones("east", "west");
    await world().deploy("shop", [db, web]);
    const { web: made } = await cids();
    await bosh("-d", "shop", "delete-vm", made?.vm ?? "");
    expect(await vms("west")).toBe(0);
    await bosh("-d", "shop", "cloud-check", "--auto");
    expect(await vms("west")).toBe(1);
  });

  it("a CPI that is gone from the config is missed by name, and nothing is lost", async () => {
    await bosh("update-cpi-config", await cpis(east()));
    expect(await world().bosh.refused("-d", "shop", "recreate", "web")).toContain(
      "CPI 'west' not found in cpi-config",
    );
    expect(await vms("west")).toBe(1);
    await bosh("update-cpi-config", await cpis(east(), west()));
  });

  it("credentials are for administrators", async () => {
    const secret = { ...west(), properties: { ...west().properties, key: "CANARY" } };
    // The secret comes from where an operator keeps it; the CLI sends the document that comes out.
    const open = { ...secret, properties: { ...secret.properties, key: "((key))", more: "((a))((b))((c))" } };
    const keyFile = join(world().dir, "key");
    await writeFile(keyFile, "CANARY");
    const ops = await file("ops.yml", [{ type: "remove", path: "/cpis/1/properties/more" }]);
    const filled = [
      ...["--var-file", `key=${keyFile}`, "--var", "a=1"],
      ...["--vars-file", await file("b.yml", { b: 2 }), "--vars-env", "NOBODY"],
      ...["--vars-store", join(world().dir, "store.yml"), "--ops-file", ops],
    ];
    const made = await bosh("update-cpi-config", await cpis(east(), open), ...filled);
    expect(made.text + made.blocks + made.lines.join()).not.toContain("CANARY");
    expect((await bosh("cpi-config")).blocks).toMatch(/key: CANARY/);
    const other = { ...secret, properties: { ...west().properties, key: "OTHER" } };
    const shown = await bosh("update-cpi-config", await cpis(east(), other), "--no-redact");
    expect(shown.text + shown.blocks + JSON.stringify(shown.rows)).toContain("OTHER");
    const { text, blocks, lines } = await bosh("update-cpi-config", await cpis(east(), secret));
    expect(text + blocks + lines.join()).not.toContain("CANARY");
    const reader = world().bosh.as(READER.name, READER.password);
    const said = await reader.say("config", "--type=cpi", "--name=default");
    expect(said.text + said.blocks + JSON.stringify(said.rows)).not.toContain("CANARY");
    await bosh("-d", "shop", "recreate", "web");
    const [last] = await world().bosh.rows("tasks", "--recent=1", "--all");
    const log = await bosh("task", last?.id ?? "", "--cpi");
    expect(log.text + log.blocks).not.toContain("CANARY");
  });

  it("all of it goes, from both", async () => {
    await bosh("-d", "shop", "delete-deployment");
    await bosh("clean-up", "--all");
    expect([await vms("east"), await vms("west")]).toEqual([0, 0]);
    for (const dir of [
      world().cloud("disks"),
      world().cloud("stemcells"),
      world().otherCloud("west", "stemcells"),
    ])
      expect(await readdir(dir).catch(() => [])).toEqual([]);
    expect(await world().bosh.rows("stemcells")).toEqual([]);
  });
});
