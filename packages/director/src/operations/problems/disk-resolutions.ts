import { AgentRefused, AgentSilent } from "@slipway/engine/agents/agent";
import { causeOf } from "@slipway/engine/flows/errors";
import { changeInstance, runSteps } from "@slipway/engine/flows/run-steps";
import { display, slug } from "@slipway/engine/model/names";
import { activeDisk, activeVm, type DiskRecord } from "@slipway/engine/model/records";
import type { StepName } from "@slipway/engine/steps/steps";
import { forgetDisk } from "../../store/disks.ts";
import { OtherDiskActive, SilentWithDisk } from "../errors.ts";
import { hasDisk, mountsOf } from "./look.ts";
import { type Resolution, runByHand, type Scene } from "./scene.ts";

const troubled = ({ problem, instance }: Scene): DiskRecord | undefined =>
  instance.disks.find(({ cid }) => cid === problem.disk);

/** The record goes only when the cloud says that the disk is gone. */
export const deleteDiskReference: Resolution = async (scene) => {
  const { context, instance, task } = scene;
  const disk = troubled(scene);
  if (disk === undefined) return;
  if (await hasDisk(disk, context)) return context.debug(`disk ${disk.cid} is there: its record stays`);
  await letGo(disk, scene);
  await task.write((db) => forgetDisk(db, disk.cid));
  await context.audit({
    action: "forget",
    objectType: "disk",
    objectName: disk.cid,
    deployment: context.deployment,
    instance: slug(instance),
  });
};

/** The agent is asked to let go of it as far as it can: what it held on to does not exist any more. */
async function letGo(disk: DiskRecord, scene: Scene): Promise<void> {
  const steps: readonly StepName[] = ["dissociate_disks", "unmount_old_disk", "detach_old_disk"];
  const without = (unresponsive: boolean) =>
    runByHand(scene, "its disk is gone from the cloud", { disksToGo: [disk.cid], unresponsive });
  try {
    await runSteps(steps, without(!(await answers(scene))), scene.context);
  } catch (error) {
    const cause = causeOf(error);
    if (!(cause instanceof AgentRefused) && !(cause instanceof AgentSilent)) throw error;
    scene.context.debug(`its agent cannot let go of disk ${disk.cid}: ${String(cause)}`);
    await runSteps(steps, without(true), scene.context);
  }
}

/** Upstream calls it delete: it goes to the orphan list, from where it can be deleted or attached again. */
export const deleteDisk: Resolution = async (scene) => {
  const { context, instance } = scene;
  const disk = troubled(scene);
  if (disk === undefined || disk.active) return;
  if (disk.attachedTo !== null && !(await answers(scene)))
    throw SilentWithDisk({ instance: display(instance), why: "its disk may be in use" });
  const steps: readonly StepName[] = [
    "dissociate_disks",
    "unmount_old_disk",
    "detach_old_disk",
    "orphan_disk",
  ];
  await runSteps(steps, runByHand({ instance }, "inactive", { disksToGo: [disk.cid] }), context);
};

export const activateDisk: Resolution = async (scene) => {
  const { context, instance } = scene;
  const disk = troubled(scene);
  if (disk === undefined || disk.active) return;
  const active = activeDisk(instance, disk.name);
  if (active !== undefined)
    throw OtherDiskActive({ instance: display(instance), active: active.cid, disk: disk.cid });
  await changeInstance(instance.uuid, context, (writes) => {
    writes.switchDisk(disk.cid);
    // The next deploy attaches and mounts it.
    writes.updateInstance({ updateCompleted: false });
  });
};

export const reattachDisk: Resolution = (scene) =>
  bringBack(scene, ["unmount_disk", "detach_disk", "attach_disk", "mount_disk"]);

export const reattachDiskAndReboot: Resolution = (scene) =>
  bringBack(scene, ["unmount_disk", "detach_disk", "attach_disk", "reboot_vm", "mount_disk"]);

async function bringBack(scene: Scene, steps: readonly StepName[]): Promise<void> {
  const { instance, context } = scene;
  const disk = troubled(scene);
  const vm = activeVm(instance);
  if (disk === undefined || !disk.active || disk.name !== undefined || vm === undefined) return;
  const mounted = await mountsOf(vm, context);
  if (mounted === "silent")
    throw SilentWithDisk({ instance: display(instance), why: "nothing can be mounted there" });
  if (mounted?.includes(disk.cid) && disk.mounted)
    return context.debug(`disk ${disk.cid} is mounted: nothing is done`);
  await runSteps(steps, runByHand(scene, "its disk is not mounted where it should be"), context);
}

async function answers({ instance, context }: Scene): Promise<boolean> {
  const vm = activeVm(instance);
  return vm !== undefined && (await mountsOf(vm, context)) !== "silent";
}
