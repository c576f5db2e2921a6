import type { NewTask } from "@slipway/director/tasks/task";
import { activeDisk, activeVm } from "@slipway/engine/model/records";
import type { TaskType } from "@slipway/protocol/director/task";
import type { JsonObject } from "@slipway/protocol/schema/json";
import { type GroupSketch, type ManifestSketch, manifestOf } from "../../director/manifests.ts";
import type { Move, View } from "../scenario.ts";

/** The tasks of an operator of the deployment `shop`. */

export const taskOf = (type: TaskType, params: JsonObject): NewTask => ({
  type,
  description: type.replaceAll("_", " "),
  user: "sim",
  deployment: "shop",
  params,
});

const OPTIONS = {
  recreate: false,
  recreate_persistent_disks: false,
  fix: false,
  skip_drain: [],
  dry_run: false,
  force_latest_variables: false,
};

export const deployTask = (sketch: ManifestSketch, options: object = {}): NewTask => ({
  ...taskOf("update_deployment", {
    manifest: manifestOf(sketch),
    cloud_config_ids: [sketch.reuse === true ? 2 : 1],
    runtime_config_ids: [],
    options: { ...OPTIONS, ...options },
  }),
  deployment: sketch.name,
});

export const stateTask = (to: string, options: object = {}): NewTask =>
  taskOf("update_deployment", { state: { to }, options: { ...OPTIONS, ...options } });

export const deleteTask = (force = false): NewTask => taskOf("delete_deployment", { force });

export const web = (instances: number): GroupSketch => ({ name: "web", instances });
export const db = (disk: string, vmType = "small"): GroupSketch => ({
  name: "db",
  instances: 1,
  disk,
  vmType,
});
/** A `db` with named disks instead. */
export const dbWith = (disks: Readonly<Record<string, string>>, vmType = "small"): GroupSketch => ({
  name: "db",
  instances: 1,
  disks,
  vmType,
});
export const shop = (...groups: ManifestSketch["groups"]): ManifestSketch => ({ name: "shop", groups });
export const small = shop(web(1), db("d1"));

export const remembers = { remembers: true } as const;
export const forgets = { remembers: false } as const;

export const deployed = (sketch: ManifestSketch = small): Move => ({ task: deployTask(sketch) });

/** The VM and the disk of `db`. */
export function ofDb(view: View) {
  const instance = view.instance("db");
  const vm = activeVm(instance);
  const disk = activeDisk(instance);
  return { instance, vm: String(vm?.cid), agentId: String(vm?.agentId), disk: String(disk?.cid) };
}

/** Behind the Director's back: the VM of `db` is gone from the cloud. */
export const loseVm: Move = {
  world: (view) => {
    const { vm } = ofDb(view);
    view.world.vms.delete(vm);
    for (const disk of view.world.disks.values()) if (disk.attachedTo === vm) disk.attachedTo = null;
  },
};
/** The agent of `db` answers nothing any more. */
export const hangAgent: Move = { world: (view) => void view.world.deaf.add(ofDb(view).agentId) };
/** The CPI goes wrong with a method. */
export const breakCpi = (method: string, fault: "refuses" | "answers badly"): Move => ({
  world: ({ world }) => void world.faults.set(method, fault),
});
export const mendCpi: Move = { world: ({ world }) => world.faults.clear() };

/** A deploy that ends between attaching a disk and mounting it. */
export const notMounted = (deployment: Parameters<typeof deployTask>[0]) =>
  [
    breakCpi("set_disk_metadata", "refuses"),
    { task: deployTask(deployment), ends: "error" },
    mendCpi,
  ] as const;
