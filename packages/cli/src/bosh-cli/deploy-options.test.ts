import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { STOP_LINES, startLines, writeAppRelease } from "./testing/app-release.ts";
import { cloudConfig, manifest } from "./testing/documents.ts";
import { uploadReleaseDirectory } from "./testing/release-dir.ts";
import { canPlay } from "./testing/requirements.ts";
import { makeStemcell } from "./testing/stemcell.ts";
import { openWorld } from "./testing/world.ts";

const job = (greeting: string) => ({ name: "counter", release: "app", properties: { greeting } });

describe.runIf(await canPlay())("options of deploy, and of actions on instances, with the real CLI", () => {
  const world = openWorld();
  const shop = (...command: readonly string[]) => world().bosh.run("-d", "shop", ...command);

  /** Two instances of the job in two zones, and whatever differs in `update`. */
  const document = (greeting: string, update: object = {}) => {
    const made = manifest("shop", {
      ...{ name: "app", instances: 2, disk: "small", azs: ["z1", "z2"], jobs: [job(greeting)] },
    }) as { update: object };
    return { ...made, update: { ...made.update, ...update } };
  };
  const deploy = async (greeting: string, update: object = {}, ...flags: readonly string[]) =>
    (await shop("deploy", await world().file("shop.yml", document(greeting, update)), ...flags)).blocks;
  const both = async () => {
    const [zero = {}, one = {}] = await world().instances("shop");
    return { zero, one };
  };
  /** Returns the lines that the job of an instance wrote to its disk. */
  const log = async (disk: string | undefined) =>
    (await readFile(world().disk(disk ?? "", "counter", "log"), "utf8")).trim().split("\n");
  /** The lines of steps that update instances, in their order: `db/... (0) (canary)`. */
  const updated = (blocks: string) =>
    [...blocks.matchAll(/Updating instance app: app\/\S+ \((\d)\)( \(canary\))?/g)].map(
      ([, index, canary]) => `${index}${canary ?? ""}`,
    );

  it("`initial_deploy_az_update_strategy: parallel` updates all zones of a first deploy together, as `max_in_flight` allows", async () => {
    await makeStemcell(world().dir, "1.0").then(({ file }) => world().bosh.run("upload-stemcell", file));
    const zones = cloudConfig(world().net, [{ name: "z1" }, { name: "z2" }]);
    await world().bosh.run("update-cloud-config", await world().file("cloud.yml", zones));
    await writeAppRelease(join(world().dir, "app"));
    await uploadReleaseDirectory(world(), join(world().dir, "app"));
    const blocks = await deploy("one", { initial_deploy_az_update_strategy: "parallel", canaries: 0 });
    // Both have begun before either has ended.
    const first = blocks.indexOf("Updating instance app: ");
    const second = blocks.indexOf("Updating instance app: ", first + 1);
    expect(second).toBeGreaterThan(first);
    expect(blocks.slice(first, second)).not.toMatch(/\(\d\d:\d\d:\d\d\)/);
    expect((await both()).one).toMatchObject({ az: "z2", process_state: "running" });
  });

  it("`--canaries` and `--max-in-flight` go before the manifest", async () => {
    // Of the first zone, which has one.
    const canary = await deploy("two", { canaries: 0 }, "--canaries", "2", "--max-in-flight", "1");
    expect(updated(canary)).toEqual(["0 (canary)", "1"]);
    const none = await deploy("three", { canaries: 2 }, "--canaries=0", "--max-in-flight=50%");
    expect(updated(none)).toEqual(["0", "1"]);
  });

  it("`--skip-drain` leaves out drain and pre-stop: of a group, or of all", async () => {
    const { zero } = await both();
    const before = await log(zero.disk_cids);
    await deploy("four", {}, "--skip-drain=app");
    const left = STOP_LINES.filter((line) => line !== "drain" && line !== "pre-stop");
    expect((await log(zero.disk_cids)).slice(before.length)).toEqual([...left, ...startLines("four")]);
    const again = await log(zero.disk_cids);
    await deploy("five", {}, "--skip-drain");
    expect((await log(zero.disk_cids)).slice(again.length)).not.toContain("drain");
    const last = await log(zero.disk_cids);
    await deploy("six", {}, "--skip-drain=other");
    expect((await log(zero.disk_cids)).slice(last.length)).toContain("drain");
  });

  it("`--recreate` makes all VMs anew, with `--dry-run` only says so", async () => {
    const before = await both();
    expect(await deploy("six", {}, "--recreate", "--dry-run")).toContain("recreate");
    expect(await both()).toEqual(before);
    await deploy("six", {}, "--recreate");
    const after = await both();
    for (const one of ["zero", "one"] as const) {
      expect(after[one].vm_cid).not.toBe(before[one].vm_cid);
      expect(after[one].disk_cids).toBe(before[one].disk_cids);
    }
  });

  it("`--fix-releases` and `--skip-upload-releases` deploy what is there", async () => {
    const before = await both();
    await deploy("six", {}, "--fix-releases");
    await deploy("six", {}, "--skip-upload-releases");
    await deploy("six", {}, "--no-redact");
    expect(await both()).toEqual(before);
  });

  it("`--fix` replaces nothing that answers", async () => {
    const before = await both();
    await deploy("six", {}, "--fix");
    expect(await both()).toEqual(before);
  });

  it("`create-swap-delete` brings jobs and disk to a new VM before the old one goes", async () => {
    const { zero } = await both();
    const before = await log(zero.disk_cids);
    const blocks = await deploy("six", { vm_strategy: "create-swap-delete" }, "--recreate");
    const after = (await both()).zero;
    expect(after).toMatchObject({ state: "started", process_state: "running", disk_cids: zero.disk_cids });
    expect(after.vm_cid).not.toBe(zero.vm_cid);
    // The new VMs are there before the first instance is stopped.
    expect(blocks.indexOf("Creating missing vms")).toBeGreaterThan(-1);
    expect(blocks.indexOf("Creating missing vms")).toBeLessThan(blocks.indexOf("Updating instance"));
    expect(await log(zero.disk_cids)).toEqual([...before, ...STOP_LINES, ...startLines("six")]);
    expect((await world().bosh.rows("orphaned-vms")).map(({ vm_cid }) => vm_cid)).not.toContain(after.vm_cid);
  });

  it("`--recreate-persistent-disks` gives each instance a new disk, with what was on the old one", async () => {
    const { zero } = await both();
    const before = await log(zero.disk_cids);
    await deploy("six", {}, "--recreate-persistent-disks");
    const after = (await both()).zero;
    expect(after.disk_cids).not.toBe(zero.disk_cids);
    expect((await log(after.disk_cids)).slice(0, before.length)).toEqual(before);
    const orphans = (await world().bosh.rows("disks", "--orphaned")).map(({ disk_cid }) => disk_cid);
    expect(orphans).toContain(zero.disk_cids);
  });

  it("`stop`, `start`, `restart` and `recreate` take groups and instances, and their options", async () => {
    const before = await both();
    const zero = before.zero.instance ?? "";
    await shop("stop", "--soft", "--skip-drain", "--canaries=1", "--max-in-flight=1", "app");
    expect(await both()).toMatchObject({ zero: { state: "stopped" }, one: { state: "stopped" } });
    await shop("start", "--converge", "--canaries=0", "--max-in-flight=2", "app");
    expect(await both()).toMatchObject({ zero: { state: "started" }, one: { state: "started" } });
    const noted = await log(before.zero.disk_cids);
    await shop("restart", "--no-converge", "--skip-drain", zero);
    expect((await log(before.zero.disk_cids)).slice(noted.length)).not.toContain("drain");
    await shop("restart", "--converge", "--canaries=1", "--max-in-flight=1", "app/0");
    await shop("stop", "--converge", "--hard", zero);
    expect((await both()).zero).toMatchObject({ state: "detached", disk_cids: before.zero.disk_cids });
    await shop("start", "--no-converge", zero);
    expect((await both()).zero).toMatchObject({ state: "started", process_state: "running" });
    await shop("stop", "--no-converge", zero);
    await shop("start", zero);
    expect((await both()).one).toEqual(before.one);
  });

  it("`recreate` plans with `--dry-run`, and replaces with `--fix`, `--skip-drain` and a limit", async () => {
    const before = await both();
    await shop("recreate", "--dry-run", "app/1");
    expect(await both()).toEqual(before);
    await shop(
      "recreate",
      "--converge",
      "--fix",
      "--skip-drain",
      "--canaries=1",
      "--max-in-flight=1",
      "app/1",
    );
    await shop("recreate", "--no-converge", before.zero.instance ?? "");
    const after = await both();
    expect(after.one.vm_cid).not.toBe(before.one.vm_cid);
    expect(after.zero.vm_cid).not.toBe(before.zero.vm_cid);
  });

  it("an instance that is ignored is passed over by all of them, and refuses what is meant for it alone", async () => {
    const before = await both();
    await shop("ignore", before.zero.instance ?? "");
    await deploy("seven", {}, "--recreate");
    const after = await both();
    expect(after.zero).toEqual({ ...before.zero, ignore: "true" });
    expect(after.one.vm_cid).not.toBe(before.one.vm_cid);
    expect(await world().bosh.refused("-d", "shop", "recreate", "--converge", "app/0")).toMatch(/ignore/);
    await shop("unignore", before.zero.instance ?? "");
  });
});
