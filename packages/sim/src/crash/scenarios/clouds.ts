import { CLOUD_CONFIG } from "../../director/manifests.ts";
import type { CrashScenario, Move, StoredConfig, View } from "../scenario.ts";
import { archive, upload } from "./resources.ts";
import { deployTask, forgets, remembers, shop, taskOf } from "./tasks.ts";

/** Two CPIs of a CPI config, `a` in zone z1 and `b` in zone z2, beside the Director's own. */

const cpis = (content: string): StoredConfig => ({ type: "cpi", name: "default", content });
const BOTH = cpis("cpis: [{name: a, type: sim-a}, {name: b, type: sim-b}]\n");
/** The same clouds, under other names. */
const RENAMED = cpis(
  "cpis: [{name: b2, type: sim-b, migrated_from: [{name: b}]}, {name: a2, type: sim-a, migrated_from: [{name: a}]}]\n",
);

const zones = (z1: string, z2: string): StoredConfig => ({
  type: "cloud",
  name: `${z1}-${z2}`,
  content: CLOUD_CONFIG.replace("{name: z1}, {name: z2}", `{name: z1, cpi: ${z1}}, {name: z2, cpi: ${z2}}`),
});

/** Numbers of configs after those that exist from the beginning: the CPI config first. */
const A_B = 4;
const B_B = 5;

const ready: readonly Move[] = [
  { configs: [BOTH, zones("a", "b"), zones("b", "b")] },
  archive("2.2"),
  upload(false),
];

const groups = [
  { name: "web", instances: 2, azs: ["z1", "z2"] },
  { name: "db", instances: 1, azs: ["z2"], disk: "d1" },
];

function deployOf(config: number, sketch = shop(...groups)) {
  const task = deployTask({ ...sketch, stemcell: "2.2" });
  return { ...task, params: { ...task.params, cloud_config_ids: [config] } };
}
const deployed: Move = { task: deployOf(A_B) };
const stateless = shop({ name: "web", instances: 2, azs: ["z1"] });

/** Each VM, disk and stemcell is recorded with the CPI that has it. */
const inItsCloud =
  (names: Readonly<Record<string, string>>) =>
  ({ remembered, world }: View): readonly string[] =>
    remembered.instances
      .flatMap(({ vms, disks }) => [...vms, ...disks])
      .flatMap(({ cid, cpi }) =>
        names[cpi] === world.madeBy.get(cid)
          ? []
          : [`${cid} of '${world.madeBy.get(cid)}' is recorded as '${cpi}'`],
      );
const both = inItsCloud({ a: "sim-a", b: "sim-b" });

export const CLOUD_DEPLOYS: readonly CrashScenario[] = [
  {
    name: "deploy into two clouds",
    cpi: remembers,
    before: ready,
    move: { task: deployOf(A_B) },
    again: deployOf(A_B),
    expects: both,
  },
  {
    name: "deploy into two clouds, CPIs that forget",
    cpi: forgets,
    before: ready,
    move: { task: deployOf(A_B) },
    again: deployOf(A_B),
    expects: both,
  },
  {
    name: "move to another cloud",
    cpi: remembers,
    before: [...ready, { task: deployOf(A_B, stateless) }],
    move: { task: deployOf(B_B, stateless) },
    again: deployOf(B_B, stateless),
    expects: both,
  },
  {
    name: "deploy into two clouds that are renamed meanwhile",
    cpi: remembers,
    before: ready,
    move: { task: deployOf(A_B) },
    meanwhile: [RENAMED],
    again: deployOf(A_B),
    expects: inItsCloud({ a: "sim-a", b: "sim-b", a2: "sim-a", b2: "sim-b" }),
  },
];

export const CLOUD_DELETIONS: readonly CrashScenario[] = [
  {
    name: "delete a deployment of two clouds that were renamed",
    cpi: remembers,
    before: [...ready, deployed, { configs: [RENAMED] }],
    move: { task: taskOf("delete_deployment", { force: false }) },
  },
];

export const CLOUD_UPLOADS: readonly CrashScenario[] = [
  {
    name: "upload a stemcell to two clouds",
    cpi: remembers,
    before: [{ configs: [BOTH] }, archive("2.2")],
    move: upload(false),
  },
];

const orphans = ({ remembered }: View) => [...remembered.orphanDisks];

export const CLOUD_DISK_DELETIONS: readonly CrashScenario[] = [
  {
    name: "delete an orphaned disk with a snapshot, of a cloud that was renamed",
    snapshots: true,
    cpi: remembers,
    before: [
      ...[...ready, deployed],
      ...[{ configs: [RENAMED] }, { task: taskOf("snapshot_deployment", { deployment: "shop" }) }],
      { task: taskOf("delete_deployment", { force: false }) },
    ],
    move: { task: (view) => taskOf("delete_orphan_disks", { disk_cids: orphans(view) }) },
    deletes: orphans,
    expects: ({ remembered, world }) =>
      remembered.snapshots.length + world.snapshots.size === 0 ? [] : ["a snapshot is left"],
  },
];
