import type { CrashScenario, View } from "../scenario.ts";
import { SCENARIOS } from "../scenarios.ts";
import {
  breakCpi,
  db,
  deleteTask,
  deployed,
  deployTask,
  forgets,
  hangAgent,
  mendCpi,
  notMounted,
  ofDb,
  remembers,
  shop,
  small,
  stateTask,
  taskOf,
} from "./tasks.ts";

/** The flows that other drivers take, too. */
const FLOWS: readonly CrashScenario[] = SCENARIOS.map(({ name, cpi, before, task, again }) => ({
  name,
  cpi,
  before: before.map((one) => ({ task: one })),
  move: { task },
  again,
}));
const flows = (type: string) =>
  FLOWS.filter(({ move }) => "task" in move && typeof move.task === "object" && move.task.type === type);

/** Flows that are given up when they are killed. The operator goes back to what was before. */
const GIVEN_UP: readonly CrashScenario[] = [
  "recreate with disk",
  "change disk by copy",
  "change disk by CPI",
  "swap VMs",
  "remove the disk",
  "recreate with named disks",
].flatMap((name) =>
  FLOWS.filter((flow) => flow.name === name).map(({ again: _, ...flow }) => {
    const last = flow.before.at(-1);
    const goesBack =
      last !== undefined && "task" in last && typeof last.task === "object" ? last.task : undefined;
    return { ...flow, name: `${name}, given up`, goesBack };
  }),
);

/** A deploy whose create_vm did its work and gave an unreadable answer. */
const badVm = [
  breakCpi("create_vm", "answers badly"),
  { task: deployTask(shop(db("d1"))), ends: "error" },
  mendCpi,
] as const;

const withVariables = { ...small, variables: true };

/** However often its task was begun, a deploy has one version of each variable. */
const oneVersion = ({ remembered }: View): readonly string[] => {
  const envs = remembered.instances.flatMap(({ vms }) => vms.map(({ env }) => JSON.stringify(env)));
  const wrong = envs.filter((env) => env !== envs[0] || !/kept@.*renewed@/.test(env));
  return wrong.map((env) => `a VM has ${env}, another ${envs[0]}`);
};

export const DEPLOYS: readonly CrashScenario[] = [
  ...flows("update_deployment"),
  ...GIVEN_UP,
  {
    name: "create with variables",
    cpi: remembers,
    before: [],
    move: { task: deployTask(withVariables) },
    again: deployTask(withVariables),
    expects: oneVersion,
  },
  {
    name: "recreate with variables",
    cpi: remembers,
    before: [deployed(withVariables)],
    move: { task: deployTask(withVariables, { recreate: true }) },
    again: deployTask(withVariables),
    expects: oneVersion,
  },
  {
    name: "change disk by a CPI that makes another of it",
    cpi: { ...remembers, updates: true },
    before: [deployed(shop(db("d1")))],
    move: { task: deployTask(shop(db("d2"))) },
    again: deployTask(shop(db("d2"))),
  },
  {
    name: "change disk by a CPI that cannot: by copy",
    cpi: { ...remembers, resizes: false },
    before: [deployed(shop(db("d1")))],
    move: { task: deployTask(shop(db("d2"))) },
    again: deployTask(shop(db("d2"))),
  },
  {
    name: "recreate persistent disks",
    cpi: remembers,
    before: [deployed(shop(db("d1")))],
    move: { task: deployTask(shop(db("d1")), { recreate_persistent_disks: true }) },
    again: deployTask(shop(db("d1"))),
  },
  {
    name: "fix an instance whose agent hangs",
    cpi: remembers,
    before: [deployed(), hangAgent],
    move: { task: deployTask(small, { fix: true }) },
    again: deployTask(small),
  },
  {
    name: "stop all, with their VMs",
    cpi: remembers,
    before: [deployed()],
    move: { task: stateTask("detached") },
  },
  {
    name: "start all that were stopped with their VMs",
    cpi: remembers,
    before: [deployed(), { task: stateTask("detached") }],
    move: { task: stateTask("started") },
    again: deployTask(small),
  },
  {
    name: "deploy after a first disk that was attached and not mounted",
    cpi: remembers,
    before: notMounted(shop(db("d1"))),
    move: { task: deployTask(shop(db("d1"))) },
    again: deployTask(shop(db("d1"))),
  },
  {
    name: "change disk by copy, after a new one that was attached and not mounted",
    cpi: { ...remembers, resizes: false },
    before: [deployed(shop(db("d1"))), ...notMounted(shop(db("d2")))],
    move: { task: deployTask(shop(db("d2"))) },
    again: deployTask(shop(db("d2"))),
  },
  {
    name: "dry run",
    cpi: remembers,
    before: [deployed(shop(db("d1")))],
    move: { task: deployTask(shop(db("d2")), { dry_run: true }) },
  },
  {
    name: "deploy VMs whose agents never answer",
    cpi: remembers,
    before: [
      {
        world: ({ world }) => {
          world.deafFromBirth = true;
        },
      },
    ],
    move: { task: deployTask(small), ends: "error" },
  },
  {
    name: "deploy after a create_vm that could not be read",
    cpi: remembers,
    before: badVm,
    move: { task: deployTask(shop(db("d1"))) },
    again: deployTask(shop(db("d1"))),
  },
  {
    name: "deploy after a create_vm that could not be read, CPI that forgets",
    cpi: forgets,
    before: badVm,
    move: { task: deployTask(shop(db("d1"))) },
    again: deployTask(shop(db("d1"))),
  },
];

export const DELETIONS: readonly CrashScenario[] = [
  ...flows("delete_deployment"),
  {
    name: "delete deployment with force, an agent hangs",
    cpi: remembers,
    before: [deployed(), hangAgent],
    move: { task: deleteTask(true) },
  },
  {
    name: "delete deployment with force after an attach_disk that cannot be read",
    cpi: remembers,
    before: [breakCpi("attach_disk", "answers badly"), { task: deployTask(shop(db("d1"))), ends: "error" }],
    move: { task: deleteTask(true) },
  },
  {
    name: "delete deployment with force after a create_vm that could not be read, CPI that forgets",
    cpi: forgets,
    before: badVm,
    move: { task: deleteTask(true) },
  },
];

/** Returns an operator's action on the instance of `db`. */
export const instanceTask = (action: string, hard = false) => ({
  task: (view: Parameters<typeof ofDb>[0]) =>
    taskOf("update_instance", {
      group: "db",
      instance: ofDb(view).instance.uuid,
      action,
      hard,
      skip_drain: false,
      ignore_unresponsive_agent: false,
    }),
});

export const INSTANCE_ACTIONS: readonly CrashScenario[] = [
  { name: "stop one", cpi: remembers, before: [deployed()], move: instanceTask("stop") },
  { name: "stop one, with its VM", cpi: remembers, before: [deployed()], move: instanceTask("stop", true) },
  {
    name: "start one",
    cpi: remembers,
    before: [deployed(), instanceTask("stop")],
    move: instanceTask("start"),
    again: deployTask(small),
  },
  {
    name: "start one that was stopped with its VM",
    cpi: remembers,
    before: [deployed(), instanceTask("stop", true)],
    move: instanceTask("start"),
    again: deployTask(small),
  },
  {
    name: "restart one",
    cpi: remembers,
    before: [deployed()],
    move: instanceTask("restart"),
    again: deployTask(small),
  },
  {
    name: "recreate one",
    cpi: remembers,
    before: [deployed()],
    move: instanceTask("recreate"),
    again: deployTask(small),
  },
];

/** No task: a request that writes by itself. */
export const IGNORE: CrashScenario = {
  name: "ignore an instance",
  cpi: remembers,
  before: [deployed()],
  move: {
    ignore: (view) => ({
      deployment: "shop",
      group: "db",
      instance: ofDb(view).instance.uuid,
      ignore: true,
    }),
  },
};
