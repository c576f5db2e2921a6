import { join } from "node:path";
import { systemExec } from "@slipway/kernel/exec";
import { describe, expect, it } from "vitest";
import { BOSH_COMMANDS } from "../../../../tools/bosh-commands.mjs";
import { canPlay } from "./testing/requirements.ts";
import { openWorld } from "./testing/world.ts";

describe.runIf(await canPlay())("commands that have no story of their own, with the real CLI", () => {
  const world = openWorld();
  const bosh = () => world().bosh;
  const shop = (...command: readonly string[]) => bosh().run("-d", "shop", ...command);
  const bare = async (...args: readonly string[]) =>
    await systemExec(process.env.SLIPWAY_BOSH ?? "", args, { env: { HOME: join(world().dir, "home") } });

  it("are all of the CLI's own list, and docs/bosh-commands.md has a row for each", async () => {
    const { stdout, stderr } = await bare("--help");
    const [, list = ""] = `${stdout}${stderr}`.split("Available commands:\n");
    const listed = [...list.matchAll(/^ {2}([a-z0-9-]+) /gm)].map(([, name = ""]) => name);
    expect(listed.length).toBeGreaterThan(80);
    expect(BOSH_COMMANDS.map(({ name }) => name)).toEqual(listed.sort());
  });

  it("of the CLI alone work as ever", async () => {
    expect((await bosh().run("environment")).rows[0]).toMatchObject({ name: "story" });
    await bosh().run("alias-env", "lab");
    expect(await bosh().rows("environments")).toHaveLength(1);
    await bosh().run("unalias-env", "lab");
    expect(await bosh().rows("environments")).toEqual([]);
    await bosh().run("log-out");
    expect((await bosh().run("help")).text).toContain("Available commands:");
    expect((await bare("completion", "bash")).stdout).toContain("bosh");
    const file = await world().file("text.yml", { a: "((b))" });
    expect((await bosh().run("interpolate", file, "-v", "b=7")).blocks).toBe("a: 7\n");
    await bosh().run("reset-release", "--dir", world().dir);
  });

  it("show and change configs", async () => {
    await world().seed();
    expect(await bosh().refused("runtime-config")).toContain("No default runtime config");
    await bosh().run("update-runtime-config", await world().file("runtime.yml", { tags: { a: "b" } }));
    expect((await bosh().run("runtime-config")).blocks).toContain("a: b");
    const other = await world().file("other.yml", { tags: { a: "c" } });
    const [{ id = "" } = {}] = (await bosh().rows("configs")).filter(({ type }) => type === "runtime");
    const [row] = await bosh().rows("diff-config", "--from-id", id.replace("*", ""), "--to-content", other);
    expect(row?.diff).toMatch(/-\s+a: b\s+\+\s+a: c/);
    expect(await bosh().refused("cpi-config")).toContain("No CPI config");
    const cpis = await world().file("cpis.yml", { cpis: "none" });
    await bosh().refused("update-cpi-config", cpis);
  });

  it("list what is left over", async () => {
    await world().deploy("shop", [{ name: "web" }]);
    expect((await shop("deployment")).rows).toMatchObject([{ name: "shop" }]);
    expect(await bosh().rows("orphaned-vms")).toEqual([]);
    await bosh().run("cancel-tasks");
  });

  it("recover a VM that was deleted, by a plan", async () => {
    expect((await shop("create-recovery-plan", join(world().dir, "none.yml"))).text).toContain(
      "No problems found",
    );
    const [{ vm_cid: cid = "", instance } = {}] = await world().instances("shop");
    expect((await shop("delete-vm", cid)).blocks).toContain(`Delete VM: ${cid}`);
    // The CLI asks what to do about each problem; a script writes down the answers itself.
    const plan = await world().file("plan.yml", {
      instance_groups_plan: [{ name: "web", planned_resolutions: { missing_vm: "recreate_vm" } }],
    });
    const { blocks } = await shop("recover", plan);
    expect(blocks).toContain("Applying problem resolutions: VM for");
    const [now] = await world().instances("shop");
    expect(now).toMatchObject({ instance, state: "started", vm_cid: expect.stringMatching(/^vm-/) });
    expect(now?.vm_cid).not.toBe(cid);
  });

  it("pause and resume resurrection", async () => {
    await bosh().run("update-resurrection", "off");
    expect((await bosh().run("curl", "/resurrection")).blocks).toContain('{"resurrection":false}');
    await bosh().run("update-resurrection", "on");
    expect((await bosh().run("curl", "/resurrection")).blocks).toContain('{"resurrection":true}');
  });

  it("capture no packets of an instance that is not there", async () => {
    const said = await bosh().refused("-d", "shop", "pcap", "web/7", "-o", join(world().dir, "web.pcap"));
    expect(said).toContain("No instance with a VM in deployment 'shop' matched filter");
  });
});
