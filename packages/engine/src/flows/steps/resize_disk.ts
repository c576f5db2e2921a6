import type { DiskCid } from "@slipway/protocol/ids";
import { refusedAs } from "../../clouds/cloud.ts";
import { activeDisk } from "../../model/records.ts";
import { type CallIntent, newRequestId, optionsOf } from "../calls.ts";
import { cloudOf, defineStep } from "../step.ts";

interface Resize extends CallIntent {
  readonly disk: DiskCid;
  readonly size: number;
}

/** By the CPI. One that cannot leaves the disk as it is: the flow goes on by copy. */
export const resizeDisk = defineStep<Resize, { readonly resized: boolean }>({
  name: "resize_disk",
  intent: ({ instance, plan: { desired } }, context) => {
    const disk = activeDisk(instance);
    const size = desired?.persistentDisk?.size;
    if (disk === undefined || size === undefined || disk.attachedTo !== null || disk.size === size)
      return undefined;
    return { requestId: newRequestId(context), cpi: disk.cpi, disk: disk.cid, size };
  },
  run: async (intent, context) => {
    try {
      await cloudOf(context, intent.cpi).resizeDisk(intent.disk, intent.size, optionsOf(intent, context));
      return { resized: true };
    } catch (error) {
      if (!refusedAs(error, "NotSupported", "NotImplemented")) throw error;
      context.debug(`the CPI does not resize disk ${intent.disk}: it is copied instead`);
      return { resized: false };
    }
  },
  record: ({ disk, size }, { resized }, writes) => {
    if (resized) writes.updateDisk(disk, { size });
  },
});
