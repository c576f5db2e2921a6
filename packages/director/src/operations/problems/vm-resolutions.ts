import { changeInstance, runSteps } from "@slipway/engine/flows/run-steps";
import type { Writes } from "@slipway/engine/journal/writes";
import { display, slug } from "@slipway/engine/model/names";
import { activeVm, type VmRecord } from "@slipway/engine/model/records";
import { VmHoldsDisk } from "../errors.ts";
import { isThere, lookAtVm } from "./look.ts";
import { type Resolution, runByHand, type Scene } from "./scene.ts";

/** The VM the problem is about, if it is still the instance's and still in that state. */
async function troubled(scene: Scene): Promise<VmRecord | undefined> {
  const { problem, instance, context } = scene;
  const vm = activeVm(instance);
  if (vm === undefined || vm.cid !== problem.vm) return undefined;
  const { how } = await lookAtVm(vm, context);
  if (how === "answers") context.debug(`the agent of VM ${vm.cid} answers again: nothing is done`);
  return how === "answers" ? undefined : vm;
}

export const rebootVm: Resolution = async (scene) => {
  if ((await troubled(scene)) === undefined) return;
  const silent = runByHand(scene, "its agent does not answer", { unresponsive: true });
  await runSteps(["reboot_vm"], silent, scene.context);
};

/** Deletes the VM. Its disks and addresses stay: the next deploy gives the instance a new VM. */
export const deleteVm: Resolution = async (scene) => {
  if ((await troubled(scene)) === undefined) return;
  const silent = runByHand(scene, "its agent does not answer", { unresponsive: true });
  await runSteps(["delete_vm"], silent, scene.context);
};

/**
 * Forgets the VM. One that may still exist is kept among the strays, so that an operator looks for it; one that holds a disk is
 * not forgotten: its successor could not get the disk.
 */
export const deleteVmReference: Resolution = async (scene) => {
  const { context, instance, warn } = scene;
  const vm = await troubled(scene);
  if (vm === undefined) return;
  const there = await isThere(vm, context);
  const held = instance.disks.find(({ attachedTo }) => attachedTo === vm.cid);
  if (there && held !== undefined)
    throw VmHoldsDisk({ vm: vm.cid, disk: held.cid, instance: display(instance) });
  const change = (writes: Writes) => {
    writes.removeVm(vm.cid);
    if (there)
      writes.addStray({
        kind: "vm",
        cpi: vm.cpi,
        requestId: vm.cid,
        about: `VM '${vm.cid}' of ${slug(instance)} in deployment ${context.deployment}`,
        why: "its reference was deleted by hand while the cloud still had it",
        addresses: Object.values(vm.networks).flatMap(({ ip }) => (ip === undefined ? [] : [ip])),
      });
  };
  await changeInstance(instance.uuid, context, change, {
    action: "forget",
    objectType: "vm",
    objectName: vm.cid,
    deployment: context.deployment,
    instance: slug(instance),
  });
  if (there)
    warn(
      `the cloud still has VM '${vm.cid}' of ${slug(instance)}; delete it there. Its addresses are kept for it until its entry in the list of strays is deleted.`,
    );
};
