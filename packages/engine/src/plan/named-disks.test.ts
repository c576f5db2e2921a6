import type { DiskCid } from "@slipway/protocol/ids";
import { describe, expect, it } from "vitest";
import type { DiskRecord } from "../model/records.ts";
import { describePlan } from "./dry-run.ts";
import type { PlanInput } from "./model.ts";
import { group, manifest } from "./testing/builders.ts";
import { deployed, next, stepsOf, updatesOf } from "./testing/world.ts";

const web = (disks: Readonly<Record<string, string>>, vmType = "small") => ({
  manifest: manifest([
    group("web", 1, {
      vmType,
      persistentDisks: Object.entries(disks).map(([name, type]) => ({ name, type })),
    }),
  ]),
});

const SIZES: Readonly<Record<string, number>> = { d1: 1024, d2: 2048 };

/** Returns an instance that has these disks, all of them linked unless `change` says otherwise. */
function having(disks: Readonly<Record<string, string>>, change: Partial<DiskRecord> = {}) {
  const world = deployed({ manifest: manifest([group("web", 1)]) });
  const [instance] = world.instances;
  const vm = instance?.vms[0]?.cid ?? null;
  for (const [at, [name, type]] of Object.entries(disks).entries())
    instance?.disks.push({
      id: 100 + at,
      cid: `disk-${name}` as DiskCid,
      name,
      size: SIZES[type] ?? 0,
      cloudProperties: { kind: "slow" },
      cpi: "",
      active: true,
      attachedTo: vm,
      hint: null,
      mounted: true,
      ...change,
    } as never);
  return world;
}

const END = "apply start save_instance";
const OLD = "unmount_old_disk detach_old_disk orphan_disk";
const BOOT = "create_vm set_vm_metadata wait_for_agent activate_vm prepare_agent";

describe("the steps of named disks", () => {
  it.each<[string, Readonly<Record<string, string>>, Readonly<Record<string, string>>, string]>([
    ["that are as they should be", { data: "d1", wal: "d2" }, { data: "d1", wal: "d2" }, ""],
    [
      "that are new",
      { data: "d1" },
      { data: "d1", wal: "d2" },
      `stop create_named_disk attach_named_disk switch_named_disk associate_disks ${END}`,
    ],
    ["that are gone", { data: "d1", wal: "d2" }, { data: "d1" }, `stop associate_disks ${OLD} ${END}`],
    [
      "that grow: by the CPI, for nobody copies what is on them",
      { data: "d1", wal: "d2" },
      { data: "d2", wal: "d2" },
      `stop dissociate_disks detach_named_disk resize_named_disks attach_named_disk associate_disks ${END}`,
    ],
    [
      "that shrink: a new one, and the old one is kept",
      { data: "d2" },
      { data: "d1" },
      `stop create_named_disk attach_named_disk switch_named_disk associate_disks ${OLD} ${END}`,
    ],
  ])("%s", (_, had, wanted, late) => {
    expect(stepsOf(next(having(had), web(wanted)))).toEqual({ early: "", late });
  });

  it("moves disks to a new VM, leaves none behind, and makes none", () => {
    const made = next(having({ data: "d1", wal: "d2" }), web({ data: "d1", wal: "d2" }, "large"));
    expect(stepsOf(made).late).toBe(
      `stop dissociate_disks detach_named_disk delete_vm ${BOOT} attach_named_disk associate_disks ${END}`,
    );
  });

  it("attaches only those disks again that were attached and not linked", () => {
    const world = having({ data: "d1", wal: "d2" });
    Object.assign(world.instances[0]?.disks[0] ?? {}, { mounted: false });
    const made = next(world, web({ data: "d1", wal: "d2" }));
    expect(stepsOf(made).late).toBe(
      `stop dissociate_disks detach_named_disk attach_named_disk associate_disks ${END}`,
    );
    expect(updatesOf(made)[0]?.named?.freed).toEqual(["disk-data"]);
  });

  it("does not replace growing disks of an instance whose agent is silent", () => {
    const world = having({ data: "d1" });
    for (const { uuid } of world.instances) world.silent.add(uuid);
    const made = next(world, { ...web({ data: "d2" }), options: { fix: true } });
    expect(stepsOf(made).late).toBe(
      `delete_vm ${BOOT} resize_named_disks attach_named_disk associate_disks ${END}`,
    );
  });

  it("are described before they run, including that nothing is copied", () => {
    const director: PlanInput["director"] = {
      name: "d",
      enableCpiResizeDisk: false,
      enableCpiUpdateDisk: false,
    };
    const lines = describePlan(next(having({ data: "d1" }), { ...web({ data: "d2" }), director }), {
      steps: true,
    }).join("\n");
    expect(lines).toContain("why: disk 'data' 1024 MB -> 2048 MB");
    expect(lines).toContain("resize_named_disks [cpi resize_disk]: the CPI changes the disk itself");
    expect(lines).toContain(
      "create_named_disk [cpi create_disk], only if the CPI cannot change the disk: a new one: 'data'",
    );
    expect(lines).toContain(
      "orphan_disk, only if the CPI cannot change the disk: kept for some days: replaced; nothing is copied",
    );
  });
});
