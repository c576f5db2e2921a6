import type { DiskCid } from "@slipway/protocol/ids";
import { activeDisk } from "../../model/records.ts";
import { newDisk } from "../select.ts";
import { defineStep } from "../step.ts";

/** The first disk of an instance: nothing to copy. */
export const switchDisk = defineStep<{ readonly disk: DiskCid }, void>({
  name: "switch_disk",
  inward: true,
  intent: (subject) => {
    const disk = newDisk(subject);
    if (disk === undefined || !disk.mounted || activeDisk(subject.instance) !== undefined) return undefined;
    return { disk: disk.cid };
  },
  run: () => Promise.resolve(),
  record: ({ disk }, _, writes) => writes.switchDisk(disk),
});
