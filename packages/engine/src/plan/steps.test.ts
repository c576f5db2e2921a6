import { describe, expect, it } from "vitest";
import type { InstanceGroup } from "../manifest/model.ts";
import { planDeletion } from "./deletion.ts";
import type { PlanOptions } from "./model.ts";
import { group, manifest, on, update, zoned } from "./testing/builders.ts";
import { deployed, deployTo, newWorld, next, stepsOf, updatesOf, type World } from "./testing/world.ts";

type Given = Parameters<typeof next>[1];
const web = (given: Partial<InstanceGroup> = {}, more: Given = {}): Given => ({
  manifest: manifest([group("web", 1, given)]),
  ...more,
});
const D1 = { persistentDisk: { type: "d1" } } as const;
const D2 = { persistentDisk: { type: "d2" } } as const;
const FAST = { persistentDisk: { type: "d2-fast" } } as const;
const LARGE = { vmType: "large" } as const;
const SWAP = { update: update({ vmStrategy: "create-swap-delete" }) } as const;
const state = (to: NonNullable<PlanOptions["state"]>["to"]): Given => ({
  options: { state: { group: "web", instance: undefined, to } },
});
const cpi = (resize: boolean, byUpdate: boolean): Given => ({
  director: { name: "d", enableCpiResizeDisk: resize, enableCpiUpdateDisk: byUpdate },
});

const SNAPSHOTS: Given = {
  director: { name: "d", enableCpiResizeDisk: false, enableCpiUpdateDisk: false, enableSnapshots: true },
};

const END = "apply start save_instance";
const TOLD = "set_vm_metadata";
const BOOT = `create_vm ${TOLD} wait_for_agent activate_vm`;
const NEW_DISK = "create_disk attach_new_disk mount_new_disk";
const OLD_DISK = "unmount_old_disk detach_old_disk orphan_disk";
const COPY = `${NEW_DISK} migrate_disk switch_disk ${OLD_DISK}`;

interface Case {
  readonly had: Given | undefined;
  readonly now: Given;
  readonly silent?: boolean;
  readonly change?: (world: World) => void;
  readonly early?: string;
  readonly late: string;
}

const cases: Readonly<Record<string, Case>> = {
  "a new instance": { had: undefined, now: web(), early: `${BOOT} prepare_agent`, late: END },
  "a new instance with a disk": {
    had: undefined,
    now: web(D1),
    early: `${BOOT} prepare_agent`,
    late: `${NEW_DISK} switch_disk ${END}`,
  },
  "a lost VM with a disk": {
    had: web(D1),
    now: web(D1),
    change: (world) => lose(world),
    early: `${BOOT} attach_disk mount_disk prepare_agent`,
    late: END,
  },
  "another VM type": {
    had: web(),
    now: web(LARGE),
    late: `stop delete_vm ${BOOT} prepare_agent ${END}`,
  },
  "another VM type, with a disk": {
    had: web(D1),
    now: web({ ...D1, ...LARGE }),
    late: `stop unmount_disk detach_disk delete_vm ${BOOT} attach_disk mount_disk prepare_agent ${END}`,
  },
  "another VM type and another disk": {
    had: web(D1),
    now: web({ ...D2, ...LARGE }),
    late: `stop unmount_disk detach_disk delete_vm ${BOOT} attach_disk mount_disk prepare_agent ${COPY} ${END}`,
  },
  "another VM type and a larger disk by the CPI": {
    had: web(D1),
    now: web({ ...D2, ...LARGE }, cpi(true, false)),
    late: `stop unmount_disk detach_disk resize_disk delete_vm ${BOOT} attach_disk mount_disk prepare_agent ${END}`,
  },
  "another VM type and no disk any more": {
    had: web(D1),
    now: web(LARGE),
    late: `stop unmount_disk detach_disk delete_vm ${BOOT} prepare_agent orphan_disk ${END}`,
  },
  "another VM type, swapped": {
    had: web({ ...D1, ...SWAP }),
    now: web({ ...D1, ...SWAP, ...LARGE }),
    early: `create_vm ${TOLD} wait_for_agent prepare_agent`,
    late: `stop unmount_disk detach_disk orphan_vm activate_vm attach_disk mount_disk ${END}`,
  },
  "another VM type and disk, swapped": {
    had: web({ ...D1, ...SWAP }),
    now: web({ ...D2, ...SWAP, ...LARGE }),
    early: `create_vm ${TOLD} wait_for_agent prepare_agent`,
    late: `stop unmount_disk detach_disk orphan_vm activate_vm attach_disk mount_disk ${COPY} ${END}`,
  },
  "a silent agent": {
    had: web(D1),
    now: web(D1, { options: { fix: true } }),
    silent: true,
    late: `delete_vm ${BOOT} attach_disk mount_disk prepare_agent ${END}`,
  },
  "a silent agent is not swapped": {
    had: web({ ...D1, ...SWAP }),
    now: web({ ...D1, ...SWAP }, { options: { fix: true } }),
    silent: true,
    late: `delete_vm ${BOOT} attach_disk mount_disk prepare_agent ${END}`,
  },
  "a first disk": {
    had: web(),
    now: web(D1),
    late: `stop ${NEW_DISK} switch_disk apply start save_instance`,
  },
  "another disk, by copy": { had: web(D1), now: web(D2), late: `stop ${COPY} apply start save_instance` },
  "a larger disk, by the CPI": {
    had: web(D1),
    now: web(D2, cpi(true, false)),
    late: "stop unmount_disk detach_disk resize_disk attach_disk mount_disk apply start save_instance",
  },
  "a faster disk, by the CPI": {
    had: web(D2),
    now: web(FAST, cpi(true, true)),
    late: "stop unmount_disk detach_disk update_disk attach_disk mount_disk apply start save_instance",
  },
  "a faster disk where the CPI only resizes": {
    had: web(D2),
    now: web(FAST, cpi(true, false)),
    late: `stop ${COPY} apply start save_instance`,
  },
  "a smaller disk is never the CPI's work": {
    had: web(D2),
    now: web(D1, cpi(true, true)),
    late: `stop ${COPY} apply start save_instance`,
  },
  "new disks for old": {
    had: web(D1),
    now: web(D1, { ...cpi(true, true), options: { recreateDisksCreatedBefore: 1 } }),
    late: `stop ${COPY} apply start save_instance`,
  },
  "no disk any more": { had: web(D1), now: web(), late: `stop ${OLD_DISK} apply start save_instance` },
  "a disk that was not mounted": {
    had: web(D1),
    now: web(D1),
    change: ({ instances }) => Object.assign(instances[0]?.disks[0] ?? {}, { mounted: false }),
    late: "stop unmount_disk detach_disk attach_disk mount_disk apply start save_instance",
  },
  tags: { had: web(), now: web({ tags: { a: "b" } }), late: "set_vm_metadata save_instance" },
  restart: { had: web(), now: web({}, state("restart")), late: "stop apply start save_instance" },
  stop: { had: web(D1), now: web(D1, state("stopped")), late: "stop save_instance" },
  "stop --hard": {
    had: web(D1),
    now: web(D1, state("detached")),
    late: "stop unmount_disk detach_disk delete_vm save_instance",
  },
  "stop --hard of a silent one": {
    had: web(D1),
    now: web(D1, { options: { ...state("detached")?.options, fix: true } }),
    silent: true,
    late: "delete_vm save_instance",
  },
  nothing: { had: web(D1), now: web(D1), late: "" },
  "another VM type, with a disk and snapshots": {
    had: web(D1, SNAPSHOTS),
    now: web({ ...D1, ...LARGE }, SNAPSHOTS),
    late: `stop snapshot_disks unmount_disk detach_disk delete_vm ${BOOT} attach_disk mount_disk prepare_agent ${END}`,
  },
  "another VM type, with snapshots and no disk": {
    had: web({}, SNAPSHOTS),
    now: web(LARGE, SNAPSHOTS),
    late: `stop delete_vm ${BOOT} prepare_agent ${END}`,
  },
  "stop, with snapshots": {
    had: web(D1, SNAPSHOTS),
    now: web(D1, { ...SNAPSHOTS, ...state("stopped") }),
    late: "stop snapshot_disks save_instance",
  },
  "stop --hard, with snapshots": {
    had: web(D1, SNAPSHOTS),
    now: web(D1, { ...SNAPSHOTS, ...state("detached") }),
    late: "stop snapshot_disks unmount_disk detach_disk delete_vm save_instance",
  },
  "tags, with snapshots": {
    had: web(D1, SNAPSHOTS),
    now: web({ ...D1, tags: { a: "b" } }, SNAPSHOTS),
    late: "set_vm_metadata save_instance",
  },
};

const lose = (world: World) => {
  for (const instance of world.instances) {
    instance.vms = [];
    for (const disk of instance.disks) Object.assign(disk, { attachedTo: null, mounted: false });
  }
};

function play({ had, now, silent, change }: Case) {
  const world = had === undefined ? newWorld() : deployed(had);
  change?.(world);
  if (silent) for (const { uuid } of world.instances) world.silent.add(uuid);
  return { world, made: next(world, now) };
}

describe("the steps of", () => {
  it.each(Object.entries(cases))("%s", (_, one) => {
    const { world, made } = play(one);
    expect(stepsOf(made)).toEqual({ early: one.early ?? "", late: one.late });
    // Each can be taken in its turn, and then there is nothing left to do.
    deployTo(world, one.now);
    const { options: _options, ...same } = one.now ?? {};
    expect(stepsOf(next(world, same))).toEqual({ early: "", late: "" });
  });

  it("a stopped instance that gets another VM type: it is not started", () => {
    const world = deployed(web());
    deployTo(world, web({}, state("stopped")));
    expect(stepsOf(next(world, web(LARGE))).late).toBe(`delete_vm ${BOOT} prepare_agent apply save_instance`);
  });

  it("a stopped instance that is started again", () => {
    const world = deployed(web());
    deployTo(world, web({}, state("stopped")));
    expect(stepsOf(next(world, web({}, state("started")))).late).toBe("apply start save_instance");
  });

  it("a detached instance whose disk has grown meanwhile: attached, then copied", () => {
    const world = deployed(web(D1));
    deployTo(world, web(D1, state("detached")));
    expect(stepsOf(next(world, web(D2)))).toEqual({ early: "", late: "" });
    expect(stepsOf(next(world, web(D2, state("started"))))).toEqual({
      early: `${BOOT} attach_disk mount_disk prepare_agent`,
      late: `${COPY} ${END}`,
    });
  });
});

describe("after an interruption, the steps that are left", () => {
  const cut = (had: Given, now: Given, after: string) => {
    const world = deployed(had);
    const all = next(world, now);
    const names = [...all.missingVms, ...updatesOf(all)].flatMap(({ steps }) =>
      steps.flatMap(({ name, condition }) => (condition === undefined ? [name] : [])),
    );
    deployTo(world, now, names.lastIndexOf(after as never) + 1);
    return world;
  };

  it.each([
    [
      "create_disk",
      `stop ${TOLD} attach_new_disk mount_new_disk migrate_disk switch_disk ${OLD_DISK} ${END}`,
    ],
    // Attached and not mounted: the CPI is asked again where it is.
    [
      "attach_new_disk",
      `stop ${TOLD} unmount_new_disk detach_new_disk attach_new_disk mount_new_disk migrate_disk switch_disk ${OLD_DISK} ${END}`,
    ],
    ["mount_new_disk", `stop ${TOLD} migrate_disk switch_disk ${OLD_DISK} ${END}`],
    ["switch_disk", `stop ${TOLD} ${OLD_DISK} ${END}`],
    ["detach_old_disk", `stop ${TOLD} orphan_disk ${END}`],
    ["orphan_disk", `stop ${TOLD} ${END}`],
  ])("complete a copy that was interrupted after %s", (after, late) => {
    const world = cut(web(D1), web(D2), after);
    // Jobs were stopped: asking them again does no harm, but is not needed.
    expect(stepsOf(next(world, web(D2))).late).toBe(late.replace("stop ", ""));
  });

  it("a disk of another change is put away, not used", () => {
    const world = cut(web(D1), web(D2), "mount_new_disk");
    expect(stepsOf(next(world, web(FAST))).late).toBe(
      `${TOLD} ${NEW_DISK} migrate_disk switch_disk ${OLD_DISK} ${END}`,
    );
    expect(stepsOf(next(world, web(D1))).late).toBe(`${TOLD} ${OLD_DISK} ${END}`);
  });

  it.each([
    ["delete_vm", { early: `${BOOT} attach_disk mount_disk prepare_agent`, late: END }],
    [
      "create_vm",
      { early: `${TOLD} wait_for_agent activate_vm attach_disk mount_disk prepare_agent`, late: END },
    ],
    ["activate_vm", { early: "", late: `stop ${TOLD} attach_disk mount_disk prepare_agent ${END}` }],
    [
      "attach_disk",
      {
        early: "",
        late: `stop unmount_disk detach_disk ${TOLD} attach_disk mount_disk prepare_agent ${END}`,
      },
    ],
    ["prepare_agent", { early: "", late: `stop ${TOLD} ${END}` }],
    ["start", { early: "", late: `stop ${TOLD} ${END}` }],
  ])("complete a recreate that was interrupted after %s", (after, { early, late }) => {
    const world = cut(web(D1), web({ ...D1, ...LARGE }), after);
    const again = stepsOf(next(world, web({ ...D1, ...LARGE })));
    expect(again).toEqual({ early, late: after === "start" ? late : late.replace("stop ", "") });
  });

  const swap = { ...D1, ...SWAP, ...LARGE };
  it.each([
    [
      "create_vm",
      `${TOLD} wait_for_agent prepare_agent`,
      `stop unmount_disk detach_disk orphan_vm activate_vm attach_disk mount_disk ${END}`,
    ],
    [
      "prepare_agent",
      "",
      `stop unmount_disk detach_disk orphan_vm ${TOLD} activate_vm attach_disk mount_disk ${END}`,
    ],
    ["detach_disk", "", `orphan_vm ${TOLD} activate_vm attach_disk mount_disk ${END}`],
    ["orphan_vm", "activate_vm attach_disk mount_disk", `${TOLD} ${END}`],
    ["activate_vm", "", `${TOLD} attach_disk mount_disk ${END}`],
  ])("complete a swap that was interrupted after %s", (after, early, late) => {
    const world = cut(web({ ...D1, ...SWAP }), web(swap), after);
    expect(stepsOf(next(world, web(swap)))).toEqual({ early, late });
  });

  it("delete a VM made for a swap that is no longer wanted, and stop no jobs", () => {
    const recreate = web({ ...D1, ...SWAP }, { options: { recreate: true } });
    const world = cut(web({ ...D1, ...SWAP }), recreate, "prepare_agent");
    for (const instance of world.instances) instance.updateCompleted = true;
    const made = next(world, web({ ...D1, ...SWAP }));
    expect(stepsOf(made)).toEqual({ early: "", late: "delete_unused_vm save_instance" });
    expect(updatesOf(made)[0]?.downtime).toBeUndefined();
  });

  it("a VM made for another swap is deleted before the next is made", () => {
    const world = cut(web({ ...D1, ...SWAP }), web(swap), "prepare_agent");
    const other = web({ ...D1, ...SWAP, env: { a: "b" } });
    expect(stepsOf(next(world, other)).early).toBe(
      `delete_unused_vm create_vm ${TOLD} wait_for_agent prepare_agent`,
    );
  });
});

describe("a swap", () => {
  it("has addresses of its own", () => {
    const world = deployed(web(SWAP));
    const made = next(world, web({ ...SWAP, ...LARGE }));
    expect(made.desired[0]?.ips[0]?.address).toBe("10.0.0.3");
    expect(updatesOf(made)[0]?.changes.map(({ kind }) => kind)).toEqual(["cloud_properties"]);
  });

  it("is not for groups with static addresses", () => {
    const fixed = (given: Partial<InstanceGroup>): Given => ({
      cloudConfig: zoned(),
      manifest: manifest([
        group("web", 1, { ...SWAP, ...given, azs: ["z1"], networks: [on("private", "10.0.0.100")] }),
      ]),
    });
    const made = next(deployed(fixed({})), fixed(LARGE));
    expect(stepsOf(made)).toEqual({ early: "", late: `stop delete_vm ${BOOT} prepare_agent ${END}` });
  });
});

describe("deleting an instance", () => {
  it.each([
    ["with a disk", web(D1), {}, "stop unmount_disk detach_disk delete_vm orphan_disk delete_instance"],
    ["without", web(), {}, "stop delete_vm delete_instance"],
    [
      "whose VM may be orphaned",
      web(D1),
      { orphanVm: true },
      "stop unmount_disk detach_disk orphan_vm orphan_disk delete_instance",
    ],
    [
      "whose agent is silent",
      web(D1),
      { orphanVm: true, agent: { responsive: false, why: "gone" } as const },
      "delete_vm orphan_disk delete_instance",
    ],
    [
      "that is stopped",
      web(D1),
      { agent: { responsive: true, jobState: "stopped", networks: {} } as const },
      "unmount_disk detach_disk delete_vm orphan_disk delete_instance",
    ],
  ])("%s", (_, had, given, expected) => {
    const [recorded] = deployed(had).instances;
    if (recorded === undefined) throw new Error("no instance");
    const made = planDeletion(recorded, {
      agent: undefined,
      orphanVm: false,
      skipDrain: false,
      why: "x",
      ...given,
    });
    expect(made.steps.map(({ name }) => name).join(" ")).toBe(expected);
  });

  it("without a VM puts its disk away", () => {
    const world = deployed(web(D1));
    lose(world);
    const made = next(world, { manifest: manifest([]) });
    expect(made.obsolete.map(({ steps }) => steps.map(({ name }) => name))).toEqual([
      ["orphan_disk", "delete_instance"],
    ]);
  });
});
