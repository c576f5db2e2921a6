import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { CrashScenario, Move, View } from "../scenario.ts";
import { releaseFile } from "./release-file.ts";
import { deployTask, remembers, shop, taskOf } from "./tasks.ts";

const uploaded: readonly Move[] = [
  {
    world: async ({ uploadsDir }) =>
      writeFile(join(uploadsDir, "errand.tgz"), await releaseFile("web", "1", true)),
  },
  {
    task: ({ uploadsDir }) =>
      taskOf("update_release", { path: join(uploadsDir, "errand.tgz"), fix: false, rebase: false }),
  },
];
const jobs = [{ name: "web", release: "web" }];
const deployed: Move = {
  task: deployTask({
    ...shop(
      { name: "app", instances: 2, jobs },
      { name: "tests", instances: 1, jobs, errand: true, disk: "d1" },
    ),
    releases: [{ name: "web", version: "1" }],
  }),
};
const run = (errand: string, more: object = {}) => ({
  task: taskOf("run_errand", {
    ...{ deployment: "shop", errand, keep_alive: false, when_changed: false, instances: [] },
    ...more,
  }),
});

/** VMs of errand groups are there for the run alone. */
const onlyApp =
  (tests: number) =>
  ({ world, remembered }: View): readonly string[] => {
    const of = (group: string) =>
      remembered.instances.filter((one) => one.group === group).flatMap(({ vms }) => vms).length;
    const found = `${world.vms.size} VMs, ${of("app")} of app, ${of("tests")} of tests`;
    return found === `${2 + tests} VMs, 2 of app, ${tests} of tests` ? [] : [`there are ${found}`];
  };

export const ERRANDS: readonly CrashScenario[] = [
  {
    name: "run an errand where its job runs",
    cpi: remembers,
    before: [...uploaded, deployed],
    move: run("web", { instances: [{ group: "app" }] }),
    expects: onlyApp(0),
  },
  {
    name: "run an errand in a VM of its own",
    cpi: remembers,
    before: [...uploaded, deployed],
    move: run("tests"),
    expects: onlyApp(0),
  },
  {
    name: "run an errand once more in the VM that was kept, which then goes",
    cpi: remembers,
    before: [...uploaded, deployed, run("tests", { keep_alive: true })],
    move: run("tests"),
    expects: onlyApp(0),
  },
  {
    name: "run an errand and keep its VM",
    cpi: remembers,
    before: [...uploaded, deployed],
    move: run("tests", { keep_alive: true }),
    expects: onlyApp(1),
  },
];
