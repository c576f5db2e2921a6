import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { STOP_LINES, startLines, writeAppRelease } from "./testing/app-release.ts";
import { uploadReleaseDirectory } from "./testing/release-dir.ts";
import { canPlay } from "./testing/requirements.ts";
import { openWorld } from "./testing/world.ts";

/** The scripts after a deploy come once all of it runs. */
const counter = (greeting?: string) => ({
  name: "counter",
  release: "app",
  ...(greeting !== undefined && { properties: { greeting } }),
});

describe.runIf(await canPlay())("a release, from its sources to its jobs, with the real CLI", () => {
  const world = openWorld();
  const release = () => join(world().dir, "app");
  const deploy = (greeting?: string, ...flags: readonly string[]) =>
    world().deploy("shop", [{ name: "app", disk: "small", jobs: [counter(greeting)] }], ...flags);
  /** Returns the lines that the job wrote to its disk. */
  const log = async () => {
    const [instance] = await world().instances("shop");
    const text = await readFile(world().disk(String(instance?.disk_cids), "counter", "log"), "utf8");
    return text.trim().split("\n");
  };

  it("is uploaded, compiled on VMs of their own that are gone afterwards, and its job runs", async () => {
    await world().seed();
    await writeAppRelease(release());
    await uploadReleaseDirectory(world(), release());
    const said = await deploy("one");
    expect(said.blocks).toMatch(/Compiling packages: base\/[0-9a-f]{64}/);
    expect(said.blocks).toMatch(/Compiling packages: greeting\/[0-9a-f]{64}/);
    expect(await log()).toEqual(startLines("one"));
    expect(await world().bosh.rows("-d", "shop", "vms")).toHaveLength(1);
    expect(await world().bosh.rows("-d", "shop", "instances", "--ps")).toMatchObject([
      { process_state: "running" },
      { process: "counter", process_state: "running" },
    ]);
    expect(await world().bosh.rows("deployments")).toMatchObject([{ release_s: "app/0+dev.1" }]);
  });

  it("is shown with its processes, and with what its VM is and uses", async () => {
    const rows = await world().bosh.rows("-d", "shop", "instances", "--details", "--vitals", "--ps");
    expect(rows).toMatchObject([
      {
        instance: expect.stringMatching(/^app\/[0-9a-f-]{36}$/),
        process_state: "running",
        state: "started",
        vm_cid: expect.stringMatching(/./),
        agent_id: expect.stringMatching(/./),
        index: "0",
        bootstrap: "true",
        ignore: "false",
        cpu_user: expect.stringMatching(/^\d+\.\d%$/),
        memory_usage: expect.stringMatching(/^\d+% \(.*B\)$/),
        persistent_disk_usage: expect.stringMatching(/^\d+% \(\d+i%\)$/),
      },
      {
        process: "counter",
        process_state: "running",
        uptime: expect.stringMatching(/^\d+d \d+h \d+m \d+s$/),
      },
    ]);
    expect(await world().bosh.rows("-d", "shop", "vms", "--vitals")).toMatchObject([
      {
        process_state: "running",
        uptime: expect.stringMatching(/s$/),
        load_1m_5m_15m: expect.stringMatching(/,/),
      },
    ]);
    expect(await world().bosh.rows("-d", "shop", "instances", "--ps", "--failing")).toEqual([]);
  });

  it("is left alone when nothing changed", async () => {
    const before = await log();
    const { blocks } = await deploy("one");
    expect(blocks).not.toContain("Compiling packages");
    expect(blocks).not.toContain("Updating instance");
    expect(await log()).toEqual(before);
  });

  it("says in a dry run which template a property changes, and changes nothing", async () => {
    const before = await log();
    const { blocks } = await deploy("two", "--dry-run");
    expect(blocks).toContain("template config/counter.yml of counter changed");
    expect(await log()).toEqual(before);
  });

  it("is drained, stopped and started with a changed property, on the VM it is on", async () => {
    const before = await log();
    const [{ vm_cid: vm } = {}] = await world().instances("shop");
    await deploy("two");
    expect(await log()).toEqual([...before, ...STOP_LINES, ...startLines("two")]);
    expect(await world().instances("shop")).toMatchObject([{ vm_cid: vm }]);
  });

  it("compiles only the package that changed, and what needs it", async () => {
    const before = await log();
    await writeFile(join(release(), "src/greeting/text"), "from a newer package\n");
    await uploadReleaseDirectory(world(), release());
    const { blocks } = await deploy("two");
    expect(blocks).toContain("Compiling packages: greeting/");
    expect(blocks).not.toContain("Compiling packages: base/");
    expect((await log()).slice(before.length)).toContain("from a newer package");
  });

  it("is brought to a new VM, and its disk with it", async () => {
    const before = await log();
    await world().bosh.run("-d", "shop", "recreate");
    expect((await log()).slice(0, before.length)).toEqual(before);
    expect((await log()).slice(before.length)).toContain("from a newer package");
  });

  it("says which property a template misses, in the words people know, and changes nothing", async () => {
    const before = await log();
    await writeFile(join(release(), "jobs/counter/templates/counter.yml.erb"), '<%= p("nobody") %>\n');
    await uploadReleaseDirectory(world(), release());
    const said = await world().bosh.say(
      "-d",
      "shop",
      "deploy",
      await world().manifest("shop", { name: "app", disk: "small", jobs: [counter("three")] }),
    );
    expect(said.code).not.toBe(0);
    expect(said.text.replaceAll(/\s+/g, " ")).toContain(
      "Error filling in template 'counter.yml.erb' (line 1: Can't find property '[\"nobody\"]')",
    );
    expect(await log()).toEqual(before);
  });
});
