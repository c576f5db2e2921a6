import type { CrashScenario, View } from "../scenario.ts";
import { db, deployed, deployTask, remembers, shop } from "./tasks.ts";

/** No disk is recorded as mounted that its agent has not mounted. */
const mountedAsRecorded = ({ remembered, world }: View): readonly string[] =>
  remembered.instances
    .flatMap(({ disks }) => disks)
    .filter(({ cid, mounted, attachedTo }) => {
      const agent = world.vms.get(attachedTo ?? "")?.agent;
      return mounted && ![agent?.store, agent?.target, ...(agent?.links.values() ?? [])].includes(cid);
    })
    .map(({ cid }) => `disk ${cid} is recorded as mounted and is not`);

/** Deploys whose agent cannot copy the disk. */
export const FAILED_COPIES: readonly CrashScenario[] = [
  {
    name: "change disk by copy, by an agent that fails to copy",
    cpi: { ...remembers, resizes: false },
    before: [
      deployed(shop(db("d1"))),
      {
        world: ({ world }) => {
          world.copyFails = true;
        },
      },
    ],
    move: { task: deployTask(shop(db("d2"))), ends: "error" },
    expects: mountedAsRecorded,
  },
];
