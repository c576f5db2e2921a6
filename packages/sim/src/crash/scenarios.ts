import type { NewTask } from "@slipway/director/tasks/task";
import type { SimCpiOptions } from "../world/sim-cpi.ts";
import { db, dbWith, deleteTask, deployTask, remembers, shop, small, web } from "./scenarios/tasks.ts";

/** A way to get somewhere, and the task that is killed on its way. */
export interface Scenario {
  readonly name: string;
  readonly cpi: Pick<SimCpiOptions, "resizes"> & { readonly remembers: boolean };
  readonly before: readonly NewTask[];
  readonly task: NewTask;
  /** Finishing touches: repeated after the resumed task, it must find nothing to do. */
  readonly again: NewTask | undefined;
}

/** Every flow of a deploy, each as small as it can be. The drivers take them, and the crash run with many more. */
export const SCENARIOS: readonly Scenario[] = [
  {
    name: "create",
    cpi: remembers,
    before: [],
    task: deployTask(small),
    again: deployTask(small),
  },
  {
    name: "create, CPI that forgets",
    cpi: { remembers: false },
    before: [],
    task: deployTask(small),
    again: deployTask(small),
  },
  {
    name: "recreate with disk",
    cpi: remembers,
    before: [deployTask(small)],
    task: deployTask(small, { recreate: true }),
    again: deployTask(small),
  },
  {
    name: "change disk by copy",
    cpi: remembers,
    before: [deployTask(shop(db("d1")))],
    task: deployTask(shop(db("d2"))),
    again: deployTask(shop(db("d2"))),
  },
  {
    name: "change disk by CPI",
    cpi: { ...remembers, resizes: true },
    before: [deployTask(shop(db("d1")))],
    task: deployTask(shop(db("d2"))),
    again: deployTask(shop(db("d2"))),
  },
  {
    name: "swap VMs",
    cpi: remembers,
    before: [deployTask({ ...shop(db("d1")), swap: true })],
    task: deployTask({ ...shop(db("d1", "big")), swap: true }),
    again: deployTask({ ...shop(db("d1", "big")), swap: true }),
  },
  {
    name: "scale down and drop a group",
    cpi: remembers,
    before: [deployTask(shop(web(2), db("d1")))],
    task: deployTask(shop(web(1))),
    again: deployTask(shop(web(1))),
  },
  {
    name: "remove the disk",
    cpi: remembers,
    before: [deployTask(shop(db("d1")))],
    task: deployTask(shop({ name: "db", instances: 1 })),
    again: deployTask(shop({ name: "db", instances: 1 })),
  },
  {
    name: "create with named disks",
    cpi: remembers,
    before: [],
    task: deployTask(shop(dbWith({ data: "d1", wal: "d2" }))),
    again: deployTask(shop(dbWith({ data: "d1", wal: "d2" }))),
  },
  {
    name: "recreate with named disks",
    cpi: remembers,
    before: [deployTask(shop(dbWith({ data: "d1", wal: "d2" })))],
    task: deployTask(shop(dbWith({ data: "d1", wal: "d2" })), { recreate: true }),
    again: deployTask(shop(dbWith({ data: "d1", wal: "d2" }))),
  },
  {
    name: "another named disk, by a CPI that cannot change it",
    cpi: remembers,
    before: [deployTask(shop(dbWith({ data: "d1", wal: "d2" })))],
    task: deployTask(shop(dbWith({ data: "d2", wal: "d1" }, "big"))),
    again: deployTask(shop(dbWith({ data: "d2", wal: "d1" }, "big"))),
  },
  {
    name: "from one disk to named ones",
    cpi: remembers,
    before: [deployTask(shop(db("d1")))],
    task: deployTask(shop(dbWith({ data: "d1" }))),
    again: deployTask(shop(dbWith({ data: "d1" }))),
  },
  {
    name: "delete deployment",
    cpi: remembers,
    before: [deployTask(small)],
    task: deleteTask(),
    again: undefined,
  },
];
