import type { DiskCid } from "@slipway/protocol/ids";
import { activeDisk } from "../model/records.ts";
import { recordStep } from "./define.ts";
import { newDisk } from "./select.ts";

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
