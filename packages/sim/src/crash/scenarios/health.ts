import type { CrashScenario, Move } from "../scenario.ts";
import { failedResurrection } from "./problems.ts";
import { deployed, deployTask, hangAgent, loseVm, ofDb, remembers, small, taskOf } from "./tasks.ts";

/**
 * The monitor finds out by itself, asks, and what it asked for is carried out; whoever comes after a crash watches on. Of one
 * instance each: whether two are found in one round is chance.
 */
const watched = (name: string, ...before: readonly Move[]): readonly CrashScenario[] =>
  [false, true].map((nats) => ({
    name: `monitor ${name}${nats ? ", on the bus" : ""}`,
    cpi: remembers,
    nats,
    before: [deployed(), ...before],
    move: { monitor: true },
    again: deployTask(small),
    expects: ({ world, remembered }) =>
      remembered.instances.flatMap(({ group, vms }) => {
        const well = vms.some(({ cid, agentId }) => world.vms.has(cid) && !world.deaf.has(agentId));
        return well ? [] : [`${group} was not healed`];
      }),
  }));

export const WATCHED: readonly CrashScenario[] = [
  ...watched("heals a VM that is gone", loseVm),
  ...watched("heals a silent VM", hangAgent),
  ...watched("heals an instance without a VM", {
    task: (view) => taskOf("delete_vm", { vm_cid: ofDb(view).vm }),
  }),
  ...watched("goes on with a resurrection that failed half-way", ...failedResurrection),
];
