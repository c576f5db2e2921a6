import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { activeDisk } from "@slipway/engine/model/records";
import { systemClock } from "@slipway/kernel/clock";
import { newAgentState } from "../../world/world.ts";
import type { CrashScenario, Move, View } from "../scenario.ts";
import { stemcellFile } from "./stemcell-file.ts";
import {
  db,
  dbWith,
  deployed,
  deployTask,
  forgets,
  ofDb,
  remembers,
  shop,
  small,
  stateTask,
  taskOf,
} from "./tasks.ts";

const FILE = "uploaded.tgz";

/** A stemcell's archive, as the API has left it for the task. */
export const archive = (version: string): Move => ({
  world: async ({ uploadsDir }) => writeFile(join(uploadsDir, FILE), await stemcellFile("sim", version)),
});
export const upload = (fix: boolean) => ({
  task: ({ uploadsDir }: View) => taskOf("update_stemcell", { path: join(uploadsDir, FILE), fix }),
});

export const UPLOADS: readonly CrashScenario[] = [
  { name: "upload a stemcell", cpi: remembers, before: [archive("2.2")], move: upload(false) },
  {
    name: "upload a stemcell, CPI that forgets",
    cpi: forgets,
    before: [archive("2.2")],
    move: upload(false),
  },
  {
    name: "fix a stemcell that is gone from the cloud",
    cpi: remembers,
    before: [{ world: ({ world }) => world.stemcells.clear() }, archive("1.1")],
    move: upload(true),
  },
  {
    name: "fix a stemcell that is gone from the cloud, CPI that forgets",
    cpi: forgets,
    before: [{ world: ({ world }) => world.stemcells.clear() }, archive("1.1")],
    move: upload(true),
  },
];

export const STEMCELL_DELETIONS: readonly CrashScenario[] = [
  {
    name: "delete a stemcell",
    cpi: remembers,
    before: [archive("2.2"), upload(false)],
    move: { task: taskOf("delete_stemcell", { name: "sim", version: "2.2", force: false }) },
  },
];

const diskTask = (type: "orphan_disk" | "attach_disk") => (view: View) => {
  const { instance, disk } = ofDb(view);
  if (type === "orphan_disk") return taskOf(type, { disk_cid: disk });
  const [orphan = ""] = view.remembered.orphanDisks;
  return taskOf(type, { deployment: "shop", group: "db", instance: instance.uuid, disk_cid: orphan });
};

const cidNamed = (name: string, view: View): string => activeDisk(ofDb(view).instance, name)?.cid ?? "";

export const DISK_ATTACHMENTS: readonly CrashScenario[] = [
  {
    name: "attach an orphaned disk by hand",
    cpi: remembers,
    before: [deployed(shop(db("d1"))), deployed(shop(db("d2"))), { task: stateTask("stopped") }],
    move: { task: diskTask("attach_disk") },
  },
];

export const DISK_ORPHANINGS: readonly CrashScenario[] = [
  {
    name: "orphan a disk",
    cpi: remembers,
    before: [deployed(), { task: stateTask("stopped") }],
    move: { task: diskTask("orphan_disk") },
  },
  {
    name: "orphan one of two named disks",
    cpi: remembers,
    before: [deployed(shop(dbWith({ data: "d1", wal: "d1" }))), { task: stateTask("stopped") }],
    move: { task: (view) => taskOf("orphan_disk", { disk_cid: cidNamed("data", view) }) },
    expects: (view) => {
      const { instance, vm } = ofDb(view);
      const links = [...(view.world.vms.get(vm)?.agent.links ?? [])];
      const wanted = [["wal", activeDisk(instance, "wal")?.cid]];
      return isDeepStrictEqual(links, wanted) ? [] : [`linked are ${JSON.stringify(links)}`];
    },
  },
];

const orphans = ({ remembered }: View) => [...remembered.orphanDisks];

export const DISK_DELETIONS: readonly CrashScenario[] = [
  {
    name: "delete orphaned disks",
    cpi: remembers,
    before: [deployed(shop(db("d1"))), deployed(shop({ name: "db", instances: 1 }))],
    move: { task: (view) => taskOf("delete_orphan_disks", { disk_cids: orphans(view) }) },
    deletes: orphans,
    expects: ({ remembered }) => remembered.orphanDisks.map((cid) => `orphaned disk ${cid} is still there`),
  },
];

/** A VM that no record names. */
const strangeVm: Move = {
  world: ({ world }) =>
    void world.vms.set("vm-strange", {
      cid: "vm-strange",
      agentId: "strange",
      stemcell: "",
      networks: {},
      metadata: {},
      agent: newAgentState(),
    }),
};

export const VM_DELETIONS: readonly CrashScenario[] = [
  {
    name: "delete a VM of an instance",
    cpi: remembers,
    before: [deployed()],
    move: { task: (view) => taskOf("delete_vm", { vm_cid: ofDb(view).vm }) },
  },
  {
    name: "delete a VM that nobody knows",
    cpi: remembers,
    before: [deployed(), strangeVm],
    move: { task: taskOf("delete_vm", { vm_cid: "vm-strange" }) },
  },
];

const swapped = (vmType: string) => deployed({ ...shop(db("d1", vmType)), swap: true });

export const ORPHANED_VM_DELETIONS: readonly CrashScenario[] = [
  {
    name: "delete orphaned VMs",
    cpi: remembers,
    before: [swapped("small"), swapped("big")],
    move: { task: taskOf("delete_orphaned_vms", {}) },
  },
];

const DAYS = 300;

export const RENEWALS: readonly CrashScenario[] = [
  {
    name: "renew certificates",
    cpi: remembers,
    before: [deployed()],
    daysLater: DAYS,
    move: { task: taskOf("renew_certificates", {}) },
    again: deployTask(small),
    expects: ({ remembered }) =>
      remembered.instances
        .flatMap(({ vms }) => vms)
        .filter(({ certificateUntil }) => (certificateUntil ?? 0) < systemClock.now() + 2 * DAYS * 86_400_000)
        .map(({ cid }) => `the certificate of ${cid} is not recorded as renewed`),
  },
  {
    name: "rotate the authority of NATS",
    cpi: remembers,
    nats: true,
    before: [deployed()],
    move: { task: taskOf("renew_certificates", { rotate_nats_ca: "now" }) },
    again: deployTask(small),
    expects: ({ world, remembered }) => [
      ...[world.bus.shows, ...world.bus.believes]
        .filter((id) => id === "")
        .map(() => "the bus has its old authority"),
      ...[...world.vms.values()]
        .filter(({ agent }) => agent.trust?.believes.includes("") !== false || agent.trust.signer === "")
        .map(({ cid }) => `${cid} has the old authority`),
      ...remembered.instances
        .flatMap(({ vms }) => vms)
        .filter(({ cid, natsTrust }) => natsTrust !== JSON.stringify(world.vms.get(cid)?.agent.trust))
        .map(({ cid }) => `whom ${cid} believes is not recorded`),
    ],
  },
];

const listing = (type: "instances" | "vms"): readonly CrashScenario[] => [
  {
    name: `list ${type}`,
    cpi: remembers,
    before: [deployed()],
    move: { task: taskOf(type, { deployment: "shop" }) },
  },
];
export const INSTANCE_LISTS = listing("instances");
export const VM_LISTS = listing("vms");
