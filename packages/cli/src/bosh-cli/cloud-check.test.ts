import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { callCpi, killVm } from "./testing/call-cpi.ts";
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

  it.each([
    ["reattach_disk", "Reattach disk to instance"],
    ["reattach_disk_and_reboot", "Reattach disk and reboot instance"],
  ])("a disk that was detached while its VM was off is brought back by %s", async (resolution, plan) => {
    const before = await db();
    const [vm = "", disk = ""] = [before.vm_cid, before.disk_cids];
    await killVm(world(), vm);
    await callCpi(world(), "detach_disk", vm, disk);
    await callCpi(world(), "reboot_vm", vm);
    // Until its agent has seen that the disk does not come back.
    const found = async () => (await check("--report")).rows.map(({ type }) => type);
    await expect.poll(found, { timeout: 120_000 }).toEqual(["mount_info_mismatch"]);
    const report = await check("--report");
    expect(report.blocks).toContain("1 OK, 0 unresponsive");
    expect(report.blocks).toContain("0 OK, 0 missing, 0 inactive, 1 mount-info mismatch");
    const description = report.rows[0]?.description;
    expect(description).toContain(`Record shows that disk '${disk}' should be mounted on ${vm}.`);
    expect(description).toContain("Not mounted in any VM");
    const { code, blocks } = await check("--resolution", resolution);
    expect({ code, blocks }).toMatchObject({ code: 0, blocks: expect.stringContaining(`: ${plan}`) });
    expect((await check("--report")).rows).toEqual([]);
    expect(await db()).toMatchObject({ vm_cid: vm, disk_cids: disk, process_state: before.process_state });
    expect((await world().bosh.run("curl", NOTE)).blocks).toBe("kept");
  });
});
