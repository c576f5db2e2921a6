import { rm } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomic } from "@slipway/kernel/atomic-file";
import { exists } from "@slipway/kernel/files";
import { wholeNames } from "../files.ts";
import { type LocalCloud, place } from "../local-cloud.ts";
import { allVms, vmDir } from "../vm-record.ts";
import { finishRemovals } from "./vms.ts";

const note = (cloud: LocalCloud, vm: string, disk: string) => join(vmDir(cloud, vm), "disks", place(disk));

/** Notes a disk in the directory of its VM: the disks noted there are put in place whenever the VM starts. */
export const noteDisk = (cloud: LocalCloud, vm: string, disk: string): Promise<void> =>
  writeFileAtomic(note(cloud, vm, disk), disk);

export const forgetDisk = (cloud: LocalCloud, vm: string, disk: string): Promise<void> =>
  rm(note(cloud, vm, disk), { force: true });

export const hasNote = (cloud: LocalCloud, vm: string, disk: string): Promise<boolean> =>
  exists(note(cloud, vm, disk));

export const disksOf = (cloud: LocalCloud, vm: string): Promise<string[]> =>
  wholeNames(join(vmDir(cloud, vm), "disks"));

/** The VM that has the disk, if any does. */
export async function holderOf(cloud: LocalCloud, disk: string): Promise<string | undefined> {
  await finishRemovals(cloud);
  for (const vm of await allVms(cloud)) if (await hasNote(cloud, vm, disk)) return vm;
  return undefined;
}
