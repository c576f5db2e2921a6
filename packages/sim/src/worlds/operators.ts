import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { NewTask } from "@slipway/director/tasks/task";
import { OFFERS, type ProblemType } from "@slipway/engine/model/problems";
import type { TaskType } from "@slipway/protocol/director/task";
import type { JsonObject } from "@slipway/protocol/schema/json";
import { releaseFile } from "../crash/scenarios/release-file.ts";
import { stemcellFile } from "../crash/scenarios/stemcell-file.ts";
import { stateTask, taskOf } from "../crash/scenarios/tasks.ts";
import type { ManifestSketch } from "../director/manifests.ts";
import type { Records } from "../judge/records.ts";
import type { Lab } from "../schedule/lab.ts";
import type { Chance, OperatorKind } from "./plan.ts";
import { DEPLOYMENTS, deployOf, nextSketch } from "./sketches.ts";

/** Knowledge and past deeds of the operators of a history. */
export interface Operators {
  /** Number of the operator. */
  readonly id: number;
  readonly lab: Lab;
  readonly records: Records;
  /** Problems that cloud-check has found, by deployment. */
  readonly problems: readonly {
    readonly id: number;
    readonly deployment: string;
    readonly type: ProblemType;
  }[];
  /** The newest manifest of each deployment that was asked for. */
  readonly sketches: Map<string, ManifestSketch>;
  readonly release: string;
  /** VMs that the world lost: their records are right to outlive them for a while. */
  readonly lost: Set<string>;
  readonly snapshots: boolean;
}

export type OperatorAction = { readonly task: NewTask } | { readonly cancel: number } | undefined;

const on = (deployment: string, type: TaskType, params: JsonObject): OperatorAction => ({
  task: { ...taskOf(type, params), deployment },
});

type Act = (known: Operators, chance: Chance) => OperatorAction | Promise<OperatorAction>;

const VERSIONS = ["2.1", "2.2"];
const RELEASES = ["1", "2"];

const deployed = ({ records }: Operators): readonly string[] => [
  ...new Set(records.instances.map(({ deployment }) => deployment)),
];

/** Picks something, if there is anything, and does something about it. */
const about =
  <T>(
    all: (known: Operators) => readonly T[],
    act: (one: T, known: Operators, chance: Chance) => OperatorAction,
  ): Act =>
  (known, chance) => {
    const found = all(known);
    return found.length === 0 ? undefined : act(chance.pick(found), known, chance);
  };

const instances = ({ records }: Operators) => records.instances.filter(({ compilation }) => !compilation);

async function upload({ lab, id }: Operators, content: Buffer): Promise<string> {
  const path = join(lab.uploadsDir, `${id}.tgz`);
  await writeFile(path, content);
  return path;
}

export const ACTS: Readonly<Record<OperatorKind, Act>> = {
  deploy: (known, chance) => {
    const name = chance.hits(0.75) ? DEPLOYMENTS[0] : DEPLOYMENTS[1];
    const sketch = nextSketch(name, known.sketches.get(name), chance);
    known.sketches.set(name, sketch);
    return { task: deployOf(sketch, known.release, { fix: chance.hits(0.3) }) };
  },
  recreate: (known, chance) => {
    const sketch = known.sketches.get(chance.pick(DEPLOYMENTS));
    return sketch && { task: deployOf(sketch, known.release, { recreate: true, fix: chance.hits(0.5) }) };
  },
  change_state: about(deployed, (deployment, _, { pick }) => ({
    task: { ...stateTask(pick(["started", "stopped", "detached", "restart", "recreate"])), deployment },
  })),
  change_instance: about(instances, ({ deployment, group, uuid }, _, { pick, hits }) =>
    on(deployment, "update_instance", {
      ...{ group, instance: uuid, action: pick(["start", "stop", "restart", "recreate"]), hard: hits(0.5) },
      ...{ skip_drain: false, ignore_unresponsive_agent: hits(0.3) },
    }),
  ),
  attach_disk: about(instances, ({ deployment, group, uuid }, { records }, { pick, hits }) =>
    records.orphanDisks.length === 0
      ? undefined
      : on(deployment, "attach_disk", {
          ...{ deployment, group, instance: uuid, disk_cid: pick(records.orphanDisks) },
          ...(hits(0.2) && { disk_properties: "copy" }),
        }),
  ),
  orphan_disk: about(
    ({ records }) => records.disks,
    ({ cid, instance }) => on(instance.split("/")[0] ?? "", "orphan_disk", { disk_cid: cid }),
  ),
  delete_orphan_disks: ({ records }, { hits }) =>
    on("shop", "delete_orphan_disks", { disk_cids: records.orphanDisks.filter(() => hits(0.7)) }),
  clean_old_disks: () => on("shop", "scheduled_orphaned_disk_cleanup", { max_orphaned_age_in_days: 0 }),
  clean_up: (_, { hits }) =>
    on("shop", "delete_artifacts", { remove_all: hits(0.7), keep_orphaned_disks: hits(0.3) }),
  scan: about(deployed, (deployment) => on(deployment, "cck_scan", { deployment })),
  resolve: about(deployed, (deployment, { problems }, { pick }) =>
    on(deployment, "cck_apply", {
      deployment,
      resolutions: Object.fromEntries(
        problems
          .filter((one) => one.deployment === deployment)
          .map(({ id, type }) => [String(id), pick(OFFERS[type].resolutions)]),
      ),
    }),
  ),
  resurrect: about(deployed, (deployment, known, { hits }) =>
    on(deployment, "cck_scan_and_fix", {
      deployment,
      instances: instances(known)
        .filter((one) => one.deployment === deployment && hits(0.7))
        .map(({ uuid }) => uuid),
    }),
  ),
  delete_vm: about(
    ({ records }) => records.vms,
    ({ cid, instance }) => on(instance.split("/")[0] ?? "", "delete_vm", { vm_cid: cid }),
  ),
  delete_orphaned_vms: () => on("shop", "delete_orphaned_vms", {}),
  delete_deployment: about(deployed, (deployment, _, { hits }) =>
    on(deployment, "delete_deployment", { force: hits(0.3) }),
  ),
  snapshot: about(instances, ({ deployment, uuid }, { snapshots }, { pick }) =>
    snapshots
      ? pick<() => OperatorAction>([
          () => on(deployment, "create_snapshot", { deployment, instance: uuid }),
          () => on(deployment, "snapshot_deployment", { deployment }),
          () => on(deployment, "snapshot_deployments", {}),
        ])()
      : undefined,
  ),
  delete_snapshots: about(deployed, (deployment, { records }, { pick, hits }) =>
    hits(0.5) || records.snapshots.length === 0
      ? on(deployment, "delete_deployment_snapshots", { deployment })
      : on(deployment, "delete_snapshot", { deployment, snapshot_cid: pick(records.snapshots).cid }),
  ),
  upload_stemcell: async (known, { pick, hits }) => {
    const version = pick(VERSIONS);
    const path = await upload(known, await stemcellFile("sim", version));
    return on("shop", "update_stemcell", { path, fix: hits(0.3) });
  },
  delete_stemcell: (_, { pick }) =>
    on("shop", "delete_stemcell", { name: "sim", version: pick(VERSIONS), force: false }),
  upload_release: async (known, { pick, hits }) => {
    const version = pick(RELEASES);
    const path = await upload(known, await releaseFile("web", version, true));
    return on("shop", "update_release", { path, fix: hits(0.3), rebase: false });
  },
  delete_release: (_, { pick, hits }) =>
    on("shop", "delete_release", {
      name: "web",
      ...(hits(0.7) && { version: pick(RELEASES) }),
      force: false,
    }),
  run_errand: about(
    ({ sketches }) =>
      [...sketches.values()].filter(({ groups }) => groups.some(({ errand }) => errand === true)),
    ({ name, groups }, _, { hits }) =>
      on(name, "run_errand", {
        ...{ deployment: name, errand: groups.find(({ errand }) => errand === true)?.name ?? "" },
        ...{ keep_alive: hits(0.3), when_changed: false, instances: [] },
      }),
  ),
  cancel: about(
    ({ records }) => records.tasks.filter(({ state }) => ["queued", "processing"].includes(state)),
    ({ id }) => ({ cancel: id }),
  ),
  lose_vm: about(
    ({ lab }) => [...lab.world.vms.values()],
    ({ cid }, { lab: { world }, lost }) => {
      world.vms.delete(cid);
      lost.add(cid);
      for (const disk of world.disks.values()) if (disk.attachedTo === cid) disk.attachedTo = null;
      return undefined;
    },
  ),
  deafen_agent: about(
    ({ lab }) => [...lab.world.vms.values()],
    ({ agentId }, { lab: { world } }) => void world.deaf.add(agentId),
  ),
};
