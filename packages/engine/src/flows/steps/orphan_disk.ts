import type { DiskCid } from "@slipway/protocol/ids";
import { oldDisks } from "../select.ts";
import { defineStep } from "../step.ts";

/** Out of the instance, into the orphan list. No disk is ever deleted here. */
export const orphanDisk = defineStep<{ readonly disk: DiskCid }, void>({
  name: "orphan_disk",
  inward: true,
  repeats: true,
  intent: (subject) => {
    const disk = oldDisks(subject).find((one) => one.attachedTo === null);
    return disk === undefined ? undefined : { disk: disk.cid };
  },
  run: () => Promise.resolve(),
  record: ({ disk }, _, writes) => writes.orphanDisk(disk),
});
