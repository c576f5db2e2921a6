import type { CrashScenario, View } from "../scenario.ts";
import { dbWith, deployed, deployTask, notMounted, remembers, shop } from "./tasks.ts";

/** Each name leads to the disk that is recorded under it. */
const linkedByName =
  (...names: readonly string[]) =>
  ({ instance, world }: View): readonly string[] => {
    const { vms, disks } = instance("db");
    const links = world.vms.get(vms[0]?.cid ?? "")?.agent.links ?? new Map<string, string>();
    return names
      .filter((name) => links.get(name) !== disks.find((disk) => disk.active && disk.name === name)?.cid)
      .map((name) => `'${name}' is linked to ${links.get(name) ?? "nothing"}`);
  };

const both = shop(dbWith({ data: "d1", wal: "d1" }));
const one = shop(dbWith({ data: "d1" }));
const larger = shop(dbWith({ data: "d2", wal: "d1", new: "d1" }));
const fast = shop(dbWith({ data: "d3", wal: "d3" }));

export const NAMED_DISKS: readonly CrashScenario[] = [
  {
    name: "one named disk larger, one new, one gone",
    cpi: { ...remembers, resizes: true },
    before: [deployed(shop(dbWith({ data: "d1", wal: "d1", old: "d1" })))],
    move: { task: deployTask(larger) },
    again: deployTask(larger),
    expects: linkedByName("data", "new", "wal"),
  },
  {
    name: "named disks by a CPI that makes others of them",
    cpi: { ...remembers, updates: true },
    before: [deployed(both)],
    move: { task: deployTask(fast) },
    again: deployTask(fast),
    expects: linkedByName("data", "wal"),
  },
  {
    name: "deploy after a named disk that was attached and not linked",
    cpi: remembers,
    before: notMounted(both),
    move: { task: deployTask(both) },
    again: deployTask(both),
    expects: linkedByName("data", "wal"),
  },
  {
    name: "one of two named disks is no longer wanted",
    cpi: remembers,
    before: [deployed(both)],
    move: { task: deployTask(one) },
    again: deployTask(one),
    expects: linkedByName("data"),
  },
  {
    name: "one of two named disks is no longer wanted, given up",
    cpi: remembers,
    before: [deployed(both)],
    move: { task: deployTask(one) },
    goesBack: deployTask(both),
  },
];
