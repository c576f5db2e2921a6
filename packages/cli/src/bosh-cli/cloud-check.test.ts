import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { callCpi, killVm } from "./testing/behind-the-back.ts";
import { canPlay } from "./testing/requirements.ts";
import { openWorld } from "./testing/world.ts";

const NOTE = "/deployments/shop/instance_groups/db/0/store?path=precious";

describe.runIf(await canPlay())("cloud-check, with the real CLI", () => {
  const world = openWorld();
  const check = (...flags: readonly string[]) => world().bosh.say("-d", "shop", "cloud-check", ...flags);
  const db = async () => (await world().instances("shop"))[0] ?? {};

  it("finds nothing in a deployment that is as it should be", async () => {
    await world().seed();
    await world().deploy("shop", [{ name: "db", disk: "small" }]);
    const { code, rows, blocks } = await check("--report");
    expect({ code, rows }).toEqual({ code: 0, rows: [] });
    expect(blocks).toContain("1 OK, 0 unresponsive, 0 missing, 0 unbound, 0 ignored");
    expect(blocks).toContain("1 OK, 0 missing, 0 inactive, 0 mount-info mismatch");
  });

  it("reports a VM that was deleted behind the Director's back, and makes it anew with its disk", async () => {
    const before = await db();
    const cid = before.vm_cid ?? "";
    const precious = join(world().dir, "precious");
    await writeFile(precious, "kept");
    await world().bosh.run("curl", "-X", "PUT", "--body", precious, NOTE);
    await callCpi(world(), "delete_vm", cid);
    const report = await check("--report");
    expect(report.code).toBe(1);
    expect(report.rows).toMatchObject([
      {
        type: "missing_vm",
        description: `VM for '${before.instance} (0)' with cloud ID '${cid}' missing.`,
      },
    ]);
    expect(report.text).toContain("1 problem(s) found");

    const { code, blocks, task } = await check("--auto");
    expect(code).toBe(0);
    expect(blocks).toMatch(/Applying problem resolutions: VM for .*: Recreate VM without waiting/);
    expect(task).not.toBe("");
    const after = await db();
    expect(after).toMatchObject({ disk_cids: before.disk_cids, ips: before.ips, state: "started" });
    expect(after.vm_cid).not.toBe(cid);
    expect((await world().bosh.run("curl", NOTE)).blocks).toBe("kept");
    expect((await check("--report")).code).toBe(0);
  });

  it("reboots a VM whose agent does not answer, when told to", async () => {
    const before = await db();
    await killVm(world(), before.vm_cid ?? "");
    const left = await check("--resolution", "recreate_disk");
    expect(left.rows).toMatchObject([{ type: "unresponsive_agent" }]);
    expect(left.blocks).toMatch(/is not responding\. .*: Skip for now/);
    const { code, blocks } = await check("--resolution", "reboot_vm");
    expect(code).toBe(0);
    expect(blocks).toMatch(/: Reboot VM/);
    expect(await db()).toEqual(before);
    expect((await check("--report")).code).toBe(0);
  });
});
