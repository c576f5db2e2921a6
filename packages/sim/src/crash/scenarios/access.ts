import type { CrashScenario, View } from "../scenario.ts";
import { deployed, ofDb, remembers, taskOf } from "./tasks.ts";

/** Logs and ways in: nothing of a deployment changes by them. */

const logs = (...groups: readonly string[]) => ({
  task: (view: View) =>
    taskOf("fetch_logs", {
      deployment: "shop",
      instances: groups.map((group) => view.instance(group).uuid),
      types: "job,agent",
      filters: [],
    }),
});

export const LOGS: readonly CrashScenario[] = [
  { name: "fetch the logs of an instance", cpi: remembers, before: [deployed()], move: logs("db") },
  { name: "fetch the logs of a deployment", cpi: remembers, before: [deployed()], move: logs("db", "web") },
];

const usersOf = (view: View) => {
  const { vm } = ofDb(view);
  return view.world.vms.get(vm)?.agent.sshUsers ?? new Set<string>();
};
const setup = {
  task: taskOf("ssh", {
    deployment: "shop",
    group: "db",
    instances: [],
    command: "setup",
    user: "bosh_sim",
    public_key: "ssh-rsa AAAA",
  }),
};
const cleanup = {
  task: taskOf("ssh", {
    deployment: "shop",
    instances: [],
    command: "cleanup",
    user_regex: "^bosh_sim",
  }),
};

export const SSH: readonly CrashScenario[] = [
  {
    name: "let somebody in by ssh",
    cpi: remembers,
    before: [deployed()],
    move: setup,
    expects: (view) => (usersOf(view).has("bosh_sim") ? [] : ["bosh_sim is not let in"]),
  },
  {
    name: "remove users of ssh",
    cpi: remembers,
    before: [deployed(), setup],
    move: cleanup,
    expects: (view) => [...usersOf(view)].map((user) => `${user} is still let in`),
  },
];
