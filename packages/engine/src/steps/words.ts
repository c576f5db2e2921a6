import { activeDisk, activeVm, type InstanceRecord } from "../model/records.ts";
import { currentVm } from "./select.ts";
import type { About } from "./step.ts";

/** Names of things in the lines of `create-env`. */
export const nameOf = ({ group }: InstanceRecord): string => `${group}/0`;
export const vmOf = (instance: InstanceRecord): string => currentVm(instance)?.cid ?? "unknown";
export const diskOf = (instance: InstanceRecord): string => activeDisk(instance)?.cid ?? "unknown";
export const newDiskOf = (instance: InstanceRecord): string =>
  instance.disks.filter(({ active }) => !active).at(-1)?.cid ?? "unknown";
export const oldDiskOf = (instance: InstanceRecord): string =>
  instance.disks.find(({ active }) => !active)?.cid ?? "unknown";
export const toVm = (instance: InstanceRecord, { machine }: About): string =>
  `to ${machine} '${activeVm(instance)?.cid ?? "unknown"}'`;
