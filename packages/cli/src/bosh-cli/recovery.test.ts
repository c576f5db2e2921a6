import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseYaml } from "@slipway/engine/documents/yaml";
import { systemExec } from "@slipway/kernel/exec";
import { describe, expect, it } from "vitest";
import { callCpi, killVm } from "./testing/call-cpi.ts";
import { canPlay, PROGRAMS } from "./testing/requirements.ts";
import { openWorld } from "./testing/world.ts";

const GROUPS = ["both", "loose", "mute"].map((name) => ({ name, disk: "small" as const }));

/** Problems made by those who do not tell the Director, and repaired by a plan. */
describe.runIf(await canPlay())("recovery plans, with the real CLI", () => {
  const world = openWorld();
  const plan = () => join(world().dir, "plan.yml");
  const check = (...flags: readonly string[]) => world().bosh.say("-d", "shop", "cloud-check", ...flags);
  const typesOf = async () => (await check("--report")).rows.map(({ type }) => type).sort();
  const of = async (group: string) => {
    const row = (await world().instances("shop")).find(({ instance = "" }) =>
      instance.startsWith(`${group}/`),
    );
    return { vm: row?.vm_cid ?? "", disk: row?.disk_cids ?? "" };
  };
  const slipway = (...args: readonly string[]) =>
    systemExec(process.execPath, [PROGRAMS.slipway, "-n", "-d", "shop", ...args], { env: world().bosh.env });

  it("finds a VM that is missing, a disk that is missing and an agent that is mute", async () => {
    await world().seed();
    await world().deploy("shop", GROUPS);
    const both = await of("both");
    await callCpi(world(), "delete_vm", both.vm);
    await callCpi(world(), "delete_disk", both.disk);
    await killVm(world(), (await of("mute")).vm);
    expect(await typesOf()).toEqual(["missing_disk", "missing_vm", "unresponsive_agent"]);
  });

  it("asks at a terminal what to do about each type in each group, and writes it down", async () => {
    const override = ["[yN]: ", "n"] as const;
    const answers = [
      ...([["missing_disk (1): ", "2"], ["missing_vm (1): ", "3"], override] as const),
      ...([["unresponsive_agent (1): ", "2"], override] as const),
    ];
    const { code, shown } = await world().bosh.typed(answers, "-d", "shop", "create-recovery-plan", plan());
    expect({ code, shown }).toMatchObject({ code: 0 });
    expect(shown).toContain("Instance Group 'both'");
    expect(parseYaml(await readFile(plan(), "utf8"), "plan")).toEqual({
      instance_groups_plan: [
        {
          name: "both",
          planned_resolutions: { missing_disk: "delete_disk_reference", missing_vm: "recreate_vm" },
        },
        { name: "mute", planned_resolutions: { unresponsive_agent: "reboot_vm" } },
      ],
    });
  });

  it("recovers by the plan, all of it", async () => {
    const before = { loose: await of("loose"), mute: await of("mute") };
    const { code, blocks, text } = await world().bosh.say("-d", "shop", "recover", plan());
    expect({ code, text }).toMatchObject({ code: 0 });
    for (const done of ["Delete disk reference", "Recreate VM and wait", "Reboot VM"])
      expect(blocks).toContain(done);
    expect(await typesOf()).toEqual([]);
    expect({ loose: await of("loose"), mute: await of("mute") }).toEqual(before);
    expect((await of("both")).vm).toMatch(/^vm-/);
  });

  it("a disk that was made and not taken into use is inactive, and goes to the orphans when told to", async () => {
    await world().gate.fail("attach_disk", "no");
    const larger = GROUPS.map((group) =>
      group.name === "loose" ? { ...group, disk: "large" as const } : group,
    );
    await expect(world().deploy("shop", larger)).rejects.toThrow();
    await world().gate.mend("attach_disk");
    expect(await typesOf()).toContain("inactive_disk");
    const planned = await slipway("create-recovery-plan", "--resolution", "delete_disk", plan());
    expect(planned).toMatchObject({ code: 0, stdout: expect.stringContaining("Instance Group 'loose'") });
    const recovered = await slipway("recover", plan());
    expect(recovered).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("Move disk to the orphaned disks"),
    });
    expect((await world().bosh.rows("disks", "--orphaned")).length).toBeGreaterThan(0);
    expect(await typesOf()).not.toContain("inactive_disk");
  });

  it("a plan that asks for what is not offered is refused, and nothing is done", async () => {
    await killVm(world(), (await of("mute")).vm);
    const bad = await world().file("bad.yml", {
      instance_groups_plan: [{ name: "mute", planned_resolutions: { unresponsive_agent: "pray" } }],
    });
    const { code, stderr } = await slipway("recover", bad);
    expect({ code, stderr }).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("pray is not offered"),
    });
    expect((await check("--auto")).blocks).toContain("Skip for now");
    expect((await check("--resolution", "reboot_vm")).code).toBe(0);
    expect(await typesOf()).not.toContain("unresponsive_agent");
  });
});
