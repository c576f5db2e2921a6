import { OFFERS, type ResolutionName } from "@slipway/engine/model/problems";
import type { CrashScenario, Move, View } from "../scenario.ts";
import { instanceTask } from "./deploys.ts";
import {
  breakCpi,
  db,
  deployed,
  deployTask,
  hangAgent,
  loseVm,
  mendCpi,
  ofDb,
  remembers,
  shop,
  small,
  taskOf,
} from "./tasks.ts";

const scan: Move = { task: taskOf("cck_scan", { deployment: "shop" }) };

/** The disk of `db` is gone from the cloud. */
const loseDisk: Move = {
  world: (view) => {
    const { vm, disk } = ofDb(view);
    view.world.disks.delete(disk);
    const real = view.world.vms.get(vm);
    if (real !== undefined) real.agent.store = null;
  },
};
/** The agent of `db` has unmounted its disk by itself. */
const loseMount: Move = {
  world: (view) => {
    const real = view.world.vms.get(ofDb(view).vm);
    if (real !== undefined) real.agent.store = null;
  },
};
/** A new disk was made and could not be attached: it stays with the instance, inactive. */
const failAttach = (disk: string): readonly Move[] => [
  breakCpi("attach_disk", "refuses"),
  { task: deployTask(shop(db(disk))), ends: "error" },
  mendCpi,
];

/** Another life of the Director has given `db` another VM. */
const replaceVm: Move = {
  world: (view) => {
    const { vm, disk } = ofDb(view);
    const before = view.world.vms.get(vm);
    const attached = view.world.disks.get(disk);
    if (before === undefined || attached === undefined) throw new Error("db has no VM with a disk");
    view.world.vms.delete(vm);
    view.world.vms.set("vm-later", { ...before, cid: "vm-later", agentId: "agent-later" });
    attached.attachedTo = "vm-later";
  },
};
/** Another life of the Director has made another disk for `db`. */
const makeDisk: Move = {
  world: (view) => {
    const before = view.world.disks.get(ofDb(view).disk);
    if (before === undefined) throw new Error("db has no disk");
    const cid = "disk-later";
    view.world.disks.set(cid, { ...before, cid, files: new Map(), data: null, attachedTo: null });
  },
};

/** Cause of each resolution. `whole` is true if a deploy finds nothing to do afterwards. */
const CAUSES: Readonly<
  Record<ResolutionName, { readonly before: readonly Move[]; readonly whole: boolean }>
> = {
  ignore: { before: [deployed(), hangAgent], whole: false },
  recreate_vm: { before: [deployed(), loseVm], whole: true },
  recreate_vm_without_wait: { before: [deployed(), hangAgent], whole: true },
  delete_vm_reference: { before: [deployed(), loseVm], whole: false },
  reboot_vm: { before: [deployed(), hangAgent], whole: true },
  delete_vm: { before: [deployed(), hangAgent], whole: false },
  delete_disk_reference: { before: [deployed(), loseDisk], whole: false },
  delete_disk: { before: [deployed(shop(db("d1"))), ...failAttach("d2")], whole: false },
  activate_disk: { before: failAttach("d1"), whole: false },
  reattach_disk: { before: [deployed(), loseMount], whole: true },
  reattach_disk_and_reboot: { before: [deployed(), loseMount], whole: true },
  adopt_vm: { before: [deployed(), replaceVm], whole: false },
  adopt_disk: { before: [deployed(), makeDisk], whole: false },
};

/** Every resolution there is. */
export const RESOLUTIONS: readonly CrashScenario[] = Object.entries(CAUSES).map(
  ([name, { before, whole }]) => ({
    name: `resolve by ${name}`,
    cpi: remembers,
    before: [...before, scan],
    move: {
      task: ({ problems }) => {
        if (problems.length === 0) throw new Error(`the scan before ${name} has found nothing`);
        return taskOf("cck_apply", {
          deployment: "shop",
          resolutions: Object.fromEntries(
            problems.map(({ id, type }) => [
              id,
              OFFERS[type].resolutions.some((one) => one === name) ? name : "ignore",
            ]),
          ),
        });
      },
    },
    ...(whole && { again: deployTask(small) }),
  }),
);

export const SCANS: readonly CrashScenario[] = [
  { name: "scan", cpi: remembers, before: [deployed(), hangAgent], move: scan as CrashScenario["move"] },
];

/** Task of a health monitor that has found `db` to be gone or silent. */
const resurrect = {
  task: (view: View) =>
    taskOf("cck_scan_and_fix", { deployment: "shop", instances: [ofDb(view).instance.uuid] }),
};

/** Resurrection that made a new VM, and could not attach the disk. */
export const failedResurrection: readonly Move[] = [
  loseVm,
  breakCpi("attach_disk", "refuses"),
  { ...resurrect, ends: "error" },
  mendCpi,
];

/** The VM of `web` as well. */
const loseWeb: Move = {
  world: (view) => {
    for (const { cid } of view.instance("web").vms) view.world.vms.delete(cid);
  },
};

/** Scenario of a resurrection. A completed one leaves nothing to a deploy. */
const resurrection = (name: string, ...before: readonly Move[]): CrashScenario => ({
  name,
  cpi: remembers,
  before: [deployed(), ...before],
  move: resurrect,
  again: deployTask(small),
});

export const SCANS_AND_FIXES: readonly CrashScenario[] = [
  resurrection("scan and fix", loseVm),
  resurrection("scan and fix of a silent VM", hangAgent),
  {
    name: "scan and fix of two",
    cpi: remembers,
    before: [deployed(), loseVm, loseWeb],
    move: {
      task: (view) =>
        taskOf("cck_scan_and_fix", {
          deployment: "shop",
          instances: ["db", "web"].map((group) => view.instance(group).uuid),
        }),
    },
    again: deployTask(small),
  },
  resurrection("scan and fix after delete-vm", {
    task: (view) => taskOf("delete_vm", { vm_cid: ofDb(view).vm }),
  }),
  resurrection("scan and fix after a deploy that has seen to it", loseVm, {
    task: deployTask(small, { fix: true }),
  }),
  resurrection("scan and fix after one that failed half-way", ...failedResurrection),
  {
    name: "scan and fix after stop --hard",
    cpi: remembers,
    before: [deployed(), instanceTask("stop", true)],
    move: resurrect,
    expects: ({ instance }) => instance("db").vms.map(({ cid }) => `it was stopped, and has the VM ${cid}`),
  },
];
