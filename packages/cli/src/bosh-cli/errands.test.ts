import { existsSync } from "node:fs";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { systemExec } from "@slipway/kernel/exec";
import { eventually } from "@slipway/testkit/eventually";
import { describe, expect, it } from "vitest";
import { ERRAND_RELEASE } from "./testing/errand-release.ts";
import { uploadReleaseDirectory, writeRelease } from "./testing/release-dir.ts";
import { canPlay } from "./testing/requirements.ts";
import { openWorld } from "./testing/world.ts";

const smoke = (properties: object = {}) => ({ name: "smoke", release: "checks", properties });
const groups = (says = "all is well") => [
  { name: "app", instances: 2, jobs: [{ name: "talker", release: "checks" }, smoke({ says })] },
  { name: "tests", lifecycle: "errand" as const, jobs: [smoke({ says: "tested" })] },
  { name: "broken", lifecycle: "errand" as const, jobs: [smoke({ says: "alas", code: 3 })] },
  { name: "endless", lifecycle: "errand" as const, jobs: [smoke({ waits: true })] },
];

describe.runIf(await canPlay())("errands with the real CLI", () => {
  const world = openWorld();
  const shop = (...command: readonly string[]) => world().bosh.run("-d", "shop", ...command);
  const errand = (...command: readonly string[]) => shop("run-errand", ...command);
  const vms = async () => (await world().bosh.rows("-d", "shop", "vms")).map(({ instance }) => instance);
  const groupsOf = (rows: readonly { readonly instance?: string }[]) =>
    rows.map(({ instance = "" }) => instance.replace(/\/.*/, "")).sort();

  it("are groups and jobs that run as one; a deploy makes no VMs for them", async () => {
    await world().seed();
    const release = join(world().dir, "checks");
    await writeRelease(release, ERRAND_RELEASE);
    await uploadReleaseDirectory(world(), release);
    await world().deploy("shop", groups());
    expect((await shop("errands")).rows.map(({ name }) => name)).toEqual([
      "broken",
      "endless",
      "smoke",
      "tests",
    ]);
    expect(groupsOf(await world().bosh.rows("-d", "shop", "vms"))).toEqual(["app", "app"]);
    const all = await world().instances("shop");
    expect(groupsOf(all)).toEqual(["app", "app", "broken", "endless", "tests"]);
    expect(all.find(({ instance }) => instance?.startsWith("broken/"))).toMatchObject({
      state: "started",
      vm_cid: "",
      ips: "",
    });
  });

  it("run in a VM of their own that is gone afterwards", async () => {
    const { rows, blocks } = await errand("tests");
    expect(rows).toMatchObject([
      {
        instance: expect.stringMatching(/^tests\/[0-9a-f-]{36}$/),
        exit_code: "0",
        stdout: "tested\n",
        stderr: "from tests/0\n",
      },
    ]);
    expect(blocks).toContain("Running errand: tests/");
    expect(groupsOf(await world().bosh.rows("-d", "shop", "vms"))).toEqual(["app", "app"]);
  });

  it("run where their job is, all at once, or on one instance alone", async () => {
    const { rows } = await errand("smoke", "--instance", "app");
    expect(rows.map(({ stdout }) => stdout)).toEqual(["all is well\n", "all is well\n"]);
    expect(rows.map(({ stderr }) => stderr).sort()).toEqual(["from app/0\n", "from app/1\n"]);
    const [first] = await world().instances("shop");
    const one = await errand("smoke", "--instance", "app/0");
    expect(one.rows).toMatchObject([{ instance: first?.instance, exit_code: "0" }]);
    const both = await errand("smoke", "--instance", first?.instance ?? "", "--instance", "tests/first");
    expect(groupsOf(both.rows)).toEqual(["app", "tests"]);
    expect(await vms()).toHaveLength(2);
  });

  it("hand over their logs", async () => {
    const to = join(world().dir, "errand-logs");
    await mkdir(to);
    await errand("smoke", "--instance", "app/first", "--download-logs", "--logs-dir", to);
    const [archive = "", ...others] = await readdir(to);
    expect(others).toEqual([]);
    const { stdout } = await systemExec("tar", ["-tzf", join(to, archive)]);
    expect(stdout).toContain("./smoke/smoke.log");
    expect(stdout).toContain("./talker/talker.log");
  });

  it("that fail end the command with an error, and their VM goes all the same", async () => {
    const { code, rows, text } = await world().bosh.say("-d", "shop", "run-errand", "broken");
    expect(code).toBe(1);
    expect(rows).toMatchObject([{ exit_code: "3", stdout: "alas\n" }]);
    expect(text).toContain("Errand 'broken' completed with error (exit code 3)");
    expect(await vms()).toHaveLength(2);
    const [task] = await world().bosh.rows("tasks", "--recent", "-d", "shop");
    expect(task).toMatchObject({ state: "done", result: "0 succeeded, 1 errored, 0 canceled" });
  });

  it("keep their VM if that is asked for, and use it once more", async () => {
    await errand("tests", "--keep-alive");
    const kept = (await world().instances("shop")).find(({ instance }) => instance?.startsWith("tests"));
    expect(kept?.vm_cid).toBeTruthy();
    await errand("tests", "--keep-alive");
    const after = (await world().instances("shop")).find(({ instance }) => instance?.startsWith("tests"));
    expect(after?.vm_cid).toBe(kept?.vm_cid);
    expect(existsSync(world().cloud("vms", kept?.vm_cid ?? ""))).toBe(true);
    await errand("tests");
    expect(await vms()).toHaveLength(2);
    expect(existsSync(world().cloud("vms", kept?.vm_cid ?? ""))).toBe(false);
  });

  it("run only when something changed, or when they failed before", async () => {
    const changed = async (name: string, ...more: readonly string[]) =>
      (await world().bosh.say("-d", "shop", "run-errand", name, "--when-changed", ...more)).rows;
    // The last run was on both instances.
    await errand("smoke", "--instance", "app");
    expect(await changed("smoke", "--instance", "app")).toEqual([]);
    await world().deploy("shop", groups("all is new"));
    expect(await changed("smoke", "--instance", "app")).toMatchObject([
      { stdout: "all is new\n" },
      { stdout: "all is new\n" },
    ]);
    expect(await changed("smoke", "--instance", "app")).toEqual([]);
    expect(await changed("broken")).toMatchObject([{ exit_code: "3" }]);
    expect(await changed("broken")).toMatchObject([{ exit_code: "3" }]);
  });

  it("that are cancelled are ended in their VM, which goes", async () => {
    const { bosh } = world();
    const end = bosh.say("-d", "shop", "run-errand", "endless");
    await eventually("the errand", async () => {
      for (const cid of await readdir(world().cloud("vms")))
        if (existsSync(world().cloud("vms", cid, "vcap", "data", "sys", "log", "smoke", "waits"))) return cid;
      return undefined;
    });
    const [task] = await bosh.rows("tasks", "-d", "shop");
    expect(task?.description).toBe("run errand endless from deployment shop");
    await bosh.run("cancel-task", task?.id ?? "");
    const { code, text } = await end;
    expect(code).toBe(1);
    expect(text).toMatch(/cancel/i);
    const [ended] = await bosh.rows("tasks", "--recent", "-d", "shop");
    expect(ended).toMatchObject({ id: task?.id, state: "cancelled" });
    expect(await vms()).toHaveLength(2);
    expect(await readdir(world().cloud("vms"))).toHaveLength(2);
  });

  it("are refused in the words people know", async () => {
    const refused = (...command: readonly string[]) =>
      world().bosh.refused("-d", "shop", "run-errand", ...command);
    expect(await refused("nobody")).toContain("Errand 'nobody' doesn't exist");
    expect(await refused("app")).toContain("Instance group 'app' is not an errand");
    expect(await refused("smoke", "--instance", "app/9")).toContain(
      "No instances match selection criteria: [app/9]",
    );
    const events = await world().bosh.rows("events", "-d", "shop", "--action", "run");
    expect(events.length).toBeGreaterThan(0);
  });
});
