import type { CrashScenario, Move, View } from "../scenario.ts";
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
  web,
} from "./tasks.ts";

const two = shop(db("d1"), { name: "other", instances: 1, disk: "d1" });
const all: Move = { task: taskOf("snapshot_deployment", { deployment: "shop" }) };
const takeOne = (view: View) =>
  taskOf("create_snapshot", { deployment: "shop", instance: ofDb(view).instance.uuid });

/** So many are known; with a CPI that forgets each that is not may be a stray. */
const has =
  (count: number) =>
  ({ remembered, world }: View): readonly string[] => {
    const suspected = remembered.strays.filter(({ kind }) => kind === "snapshot").length;
    const found = remembered.snapshots.length;
    const right = found === count && world.snapshots.size <= count + suspected;
    return right ? [] : [`${found} snapshots are known, ${world.snapshots.size} exist, not ${count}`];
  };

export const SNAPSHOTS: readonly CrashScenario[] = [
  {
    name: "take a snapshot of one disk",
    snapshots: true,
    cpi: remembers,
    before: [deployed(small)],
    move: { task: takeOne },
    expects: has(1),
  },
  {
    name: "take a snapshot of one disk, CPI that forgets",
    snapshots: true,
    cpi: forgets,
    before: [deployed(small)],
    move: { task: takeOne },
    expects: has(1),
  },
];

export const DEPLOYMENT_SNAPSHOTS: readonly CrashScenario[] = [
  {
    name: "take snapshots of all disks",
    snapshots: true,
    cpi: remembers,
    before: [deployed(two), all],
    move: all,
    expects: has(4),
  },
];

export const SCHEDULED_SNAPSHOTS: readonly CrashScenario[] = [
  {
    name: "take snapshots of all deployments, by schedule",
    snapshots: true,
    cpi: remembers,
    before: [deployed(two), deployed({ ...shop(db("d1")), name: "other-shop" })],
    move: { task: { ...taskOf("snapshot_deployments", {}), deployment: undefined } },
    expects: has(3),
  },
];

/** One of the disk that is replaced, and of both on one instance. */
export const SNAPSHOTS_BEFORE_UPDATES: readonly CrashScenario[] = [
  {
    name: "recreate a VM after a snapshot of its disk",
    snapshots: true,
    cpi: remembers,
    before: [deployed(small)],
    move: { task: deployTask(shop(web(1), db("d1", "big"))) },
    again: deployTask(shop(web(1), db("d1", "big"))),
    expects: has(1),
  },
  {
    name: "change a disk by copy after a snapshot, CPI that forgets",
    snapshots: true,
    cpi: forgets,
    before: [deployed(small)],
    move: { task: deployTask(shop(web(1), db("d2"))) },
    expects: has(1),
  },
  {
    name: "stop an instance with named disks after snapshots of them",
    snapshots: true,
    cpi: remembers,
    before: [deployed(shop(dbWith({ data: "d1", logs: "d2" })))],
    move: { task: stateTask("stopped") },
    expects: has(2),
  },
];

export const SNAPSHOT_DELETIONS: readonly CrashScenario[] = [
  {
    name: "delete a snapshot",
    snapshots: true,
    cpi: remembers,
    before: [deployed(two), all],
    move: {
      task: ({ remembered }) =>
        taskOf("delete_snapshot", { deployment: "shop", snapshot_cid: remembered.snapshots[0] ?? "" }),
    },
    expects: has(1),
  },
];

export const DEPLOYMENT_SNAPSHOT_DELETIONS: readonly CrashScenario[] = [
  {
    name: "delete all snapshots of a deployment",
    snapshots: true,
    cpi: remembers,
    before: [deployed(two), all, all],
    move: { task: taskOf("delete_deployment_snapshots", { deployment: "shop" }) },
    expects: has(0),
  },
];

const orphans = ({ remembered }: View) => [...remembered.orphanDisks];

export const SNAPSHOTS_OF_ORPHANS: readonly CrashScenario[] = [
  {
    name: "delete an orphaned disk that has snapshots",
    snapshots: true,
    cpi: remembers,
    before: [deployed(small), all, all, deployed(shop({ name: "db", instances: 1 }))],
    move: { task: (view) => taskOf("delete_orphan_disks", { disk_cids: orphans(view) }) },
    deletes: orphans,
    expects: has(0),
  },
];

export const OLD_DISK_DELETIONS: readonly CrashScenario[] = [
  {
    name: "delete orphaned disks whose time is over, with their snapshots",
    snapshots: true,
    cpi: remembers,
    before: [deployed(small), all, deployed(shop({ name: "db", instances: 1 }))],
    move: { task: taskOf("scheduled_orphaned_disk_cleanup", { max_orphaned_age_in_days: 5 }) },
    daysLater: 6,
    deletes: orphans,
    expects: (view) => [
      ...has(0)(view),
      ...orphans(view).map((cid) => `disk ${cid} is left, though its time is over`),
    ],
  },
];
