import { currentVm } from "@slipway/engine/flows/select";
import type { InstanceRecord } from "@slipway/engine/model/records";
import { activeDisk, activeVm } from "@slipway/engine/model/records";
import type { StepName } from "@slipway/engine/plan/model";
import type { Begun, Stages } from "./stages.ts";

type Words = (instance: InstanceRecord, about: About) => string;

interface About {
  readonly stemcell?: string | undefined;
  /** What the cloud at hand has: VMs, or sandboxes of this machine. */
  readonly machine: "VM" | "sandbox";
}

const name = ({ group }: InstanceRecord): string => `${group}/0`;
const vm = (instance: InstanceRecord): string => `${currentVm(instance)?.cid ?? "unknown"}`;
const disk = (instance: InstanceRecord): string => `${activeDisk(instance)?.cid ?? "unknown"}`;
const newDisk = (instance: InstanceRecord): string =>
  `${instance.disks.filter(({ active }) => !active).at(-1)?.cid ?? "unknown"}`;
const oldDisk = (instance: InstanceRecord): string =>
  `${instance.disks.find(({ active }) => !active)?.cid ?? "unknown"}`;
const to = (instance: InstanceRecord, { machine }: About): string =>
  `to ${machine} '${activeVm(instance)?.cid ?? "unknown"}'`;

/** Upstream's words, as far as it has the step. What only changes the records is not told. */
const WORDS: Readonly<Partial<Record<StepName, Words>>> = {
  stop: (i) => `Stopping jobs on instance '${name(i)}'`,
  unmount_disk: (i) => `Unmounting disk '${disk(i)}'`,
  detach_disk: (i) => `Detaching disk '${disk(i)}'`,
  delete_vm: (i, { machine }) => `Deleting ${machine} '${vm(i)}'`,
  delete_unused_vm: (i, { machine }) => `Deleting ${machine} '${vm(i)}' of an interrupted run`,
  create_vm: (i, { stemcell, machine }) =>
    `Creating ${machine} for instance '${name(i)}' from stemcell '${stemcell}'`,
  wait_for_agent: (i, { machine }) => `Waiting for the agent on ${machine} '${vm(i)}' to be ready`,
  attach_disk: (i, about) => `Attaching disk '${disk(i)}' ${to(i, about)}`,
  mount_disk: (i) => `Mounting disk '${disk(i)}'`,
  prepare_agent: (i, { machine }) => `Preparing the agent on ${machine} '${vm(i)}'`,
  create_disk: () => "Creating disk",
  attach_new_disk: (i, about) => `Attaching disk '${newDisk(i)}' ${to(i, about)}`,
  mount_new_disk: (i) => `Mounting disk '${newDisk(i)}'`,
  migrate_disk: (i) => `Migrating disk content from '${disk(i)}' to '${newDisk(i)}'`,
  unmount_old_disk: (i) => `Unmounting disk '${oldDisk(i)}'`,
  detach_old_disk: (i) => `Detaching disk '${oldDisk(i)}'`,
  set_vm_metadata: (i, { machine }) => `Setting the metadata of ${machine} '${vm(i)}'`,
  apply: (i) => `Updating instance '${name(i)}'`,
  start: (i) => `Waiting for instance '${name(i)}' to be running`,
};

/** Runs a flow and tells its steps: each ends where the next begins. */
export async function tellSteps(
  stages: Stages,
  now: () => InstanceRecord | undefined,
  about: About,
  flow: (progress: (step: StepName) => void) => Promise<void>,
): Promise<void> {
  let current: Begun | undefined;
  try {
    await flow((step) => {
      current?.finished();
      current = undefined;
      const instance = now();
      const words = instance && WORDS[step]?.(instance, about);
      if (words !== undefined) current = stages.begin(words);
    });
    current?.finished();
  } catch (error) {
    current?.failed();
    throw error;
  }
}
