import type { DiskCid } from "@slipway/protocol/ids";
import { activeDisk, activeVm } from "../model/records.ts";
import { recordStep } from "./define.ts";
import { newDisk, wantedNamed } from "./select.ts";

/** The first disk of an instance: nothing to copy. */
export const switchDisk = recordStep<DiskCid>({
  name: "switch_disk",
  subject: "disk",
  calls: [],
  intent: (subject) => {
    const disk = newDisk(subject);
    return disk?.mounted && activeDisk(subject.instance) === undefined ? disk.cid : undefined;
  },
  record: (disk, writes) => writes.switchDisk(disk),
});

/** The new disk of a name. Nothing is copied: what was on the one before is the jobs' affair. */
export const switchNamedDisk = recordStep<DiskCid>({
  name: "switch_named_disk",
  subject: "disk",
  calls: [],
  loop: true,
  intent: (subject) => {
    const vm = activeVm(subject.instance);
    return wantedNamed(subject).find((disk) => !disk.active && disk.attachedTo === vm?.cid)?.cid;
  },
  record: (disk, writes) => writes.switchDisk(disk),
});
