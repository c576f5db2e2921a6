import type { DiskCid } from "@slipway/protocol/ids";
import type { JsonObject } from "@slipway/protocol/schema/json";
import { refusedAs } from "../../clouds/cloud.ts";
import { activeDisk } from "../../model/records.ts";
import { type CallIntent, newRequestId, optionsOf } from "../calls.ts";
import { diskFits } from "../select.ts";
import { cloudOf, defineStep } from "../step.ts";

interface Update extends CallIntent {
  readonly disk: DiskCid;
  readonly size: number;
  readonly cloudProperties: JsonObject;
}

/** By the CPI, which may give the disk another cid. One that cannot leaves it as it is: the flow goes on by copy. */
export const updateDisk = defineStep<Update, DiskCid | null>({
  name: "update_disk",
  intent: ({ instance, plan: { desired } }, context) => {
    const disk = activeDisk(instance);
    const wanted = desired?.persistentDisk ?? null;
    if (disk === undefined || wanted === null || disk.attachedTo !== null || diskFits(disk, wanted))
      return undefined;
    return { requestId: newRequestId(context), cpi: disk.cpi, disk: disk.cid, ...wanted };
  },
  run: async (intent, context) => {
    try {
      const { disk, size, cloudProperties } = intent;
      const options = optionsOf(intent, context);
      return await cloudOf(context, intent.cpi).updateDisk(disk, size, cloudProperties, options);
    } catch (error) {
      if (!refusedAs(error, "NotSupported", "NotImplemented")) throw error;
      context.debug(`the CPI does not update disk ${intent.disk}: it is copied instead`);
      return null;
    }
  },
  record: ({ disk, size, cloudProperties }, cid, writes) => {
    if (cid !== null) writes.updateDisk(disk, { cid, size, cloudProperties });
  },
});
