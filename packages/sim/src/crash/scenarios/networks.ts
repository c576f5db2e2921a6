import { CLOUD_CONFIG } from "../../director/manifests.ts";
import type { CrashScenario, Move, StoredConfig, View } from "../scenario.ts";
import { breakCpi, deleteTask, deployTask, forgets, mendCpi, remembers, shop, taskOf } from "./tasks.ts";

/** A network `made` of two subnets that the CPI is to make: one with a range, one whose range it chooses. */
const managed = (second: string): StoredConfig => ({
  type: "cloud",
  name: "managed",
  content: CLOUD_CONFIG.replace(
    "compilation:",
    `- name: made
  type: manual
  managed: true
  subnets:
  - {name: one, range: 10.8.0.0/24, gateway: 10.8.0.1, azs: [z1]}
  - {name: two, ${second}, azs: [z2]}
compilation:`,
  ),
});
const bySize = managed("netmask_bits: 24");
/** A network that this cloud refuses. */
const forbidden = managed("range: 10.66.0.0/24, gateway: 10.66.0.1");

/** Numbers of configs after those that exist from the beginning. */
const FIRST = 3;
const SECOND = 4;

const inside = shop({ name: "web", instances: 2, network: "made", azs: ["z1", "z2"] });
const outside = shop({ name: "web", instances: 2, azs: ["z1", "z2"] });

function deployOf(sketch: typeof inside, config = FIRST) {
  const task = deployTask(sketch);
  return { ...task, params: { ...task.params, cloud_config_ids: [config] } };
}
const ready: Move = { configs: [bySize] };
const deployed: Move = { task: deployOf(inside) };

/** So many networks are known, and all VMs of those in use are in theirs. */
const has =
  (count: number) =>
  ({ remembered, world }: View): readonly string[] => {
    const suspected = remembered.strays.filter(({ kind }) => kind === "network").length;
    const cids = remembered.networks.flatMap(({ subnets }) => subnets.map(({ cid }) => cid));
    const right = cids.length === count && world.networks.size <= count + suspected;
    return right ? [] : [`${cids.length} networks are known, ${world.networks.size} exist, not ${count}`];
  };

export const NETWORK_DEPLOYS: readonly CrashScenario[] = [
  {
    name: "make a network",
    cpi: remembers,
    before: [ready],
    move: { task: deployOf(inside) },
    again: deployOf(inside),
    expects: has(2),
  },
  {
    name: "make a network, CPI that forgets",
    cpi: forgets,
    before: [ready],
    move: { task: deployOf(inside) },
    again: deployOf(inside),
  },
  {
    name: "make a network of which the CPI refuses a part",
    cpi: remembers,
    before: [{ configs: [bySize, forbidden] }],
    move: { task: deployOf(inside, SECOND), ends: "error" },
    expects: has(0),
  },
  {
    name: "leave a network",
    cpi: remembers,
    before: [ready, deployed],
    move: { task: deployOf(outside) },
    again: deployOf(outside),
    expects: has(2),
  },
  {
    name: "come back to an orphaned network",
    cpi: remembers,
    before: [ready, deployed, { task: deployOf(outside) }],
    move: { task: deployOf(inside) },
    again: deployOf(inside),
    expects: has(2),
  },
  {
    name: "finish a network that a broken CPI has left",
    cpi: remembers,
    before: [
      { configs: [bySize, forbidden] },
      breakCpi("delete_network", "refuses"),
      { task: deployOf(inside, SECOND), ends: "error" },
      mendCpi,
    ],
    move: { task: deployOf(inside) },
    again: deployOf(inside),
    expects: has(2),
  },
];

export const NETWORK_ORPHANINGS: readonly CrashScenario[] = [
  {
    name: "delete the last deployment of a network",
    cpi: remembers,
    before: [ready, deployed],
    move: { task: deleteTask() },
    expects: has(2),
  },
];

export const NETWORK_DELETIONS: readonly CrashScenario[] = [
  {
    name: "delete an orphaned network",
    cpi: remembers,
    before: [ready, deployed, { task: deployOf(outside) }],
    move: { task: taskOf("delete_orphan_networks", { names: ["made"] }) },
    expects: has(0),
  },
];
