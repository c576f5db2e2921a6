import { messageTrail } from "@slipway/kernel/errors";
import { type DiskCid, diskCid } from "@slipway/protocol/ids";
import { jsonObject } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import { CpiLost, refusedAs } from "../clouds/cloud.ts";
import { activeDisk } from "../model/records.ts";
import { callFields, freshOptions, newRequestId, optionsOf } from "./calls.ts";
import { cloudOf } from "./context.ts";
import { callStep } from "./define.ts";
import { diskFits } from "./select.ts";
import { UNDONE } from "./step.ts";
import { valuesIn } from "./values.ts";

const schema = v.object({
  ...callFields,
  disk: diskCid,
  size: v.number(),
  cloudProperties: jsonObject(),
});

/**
 * Updates the disk by the CPI, which may give it another cid. If the CPI cannot, the disk stays as it is, and the plan continues
 * with a copy.
 */
export const updateDisk = callStep<v.InferOutput<typeof schema>, DiskCid | null>({
  name: "update_disk",
  subject: "disk",
  calls: ["cpi update_disk"],
  status: "updating disk",
  version: 1,
  schema,
  intent: ({ instance, goal: { desired } }, context) => {
    const disk = activeDisk(instance);
    const wanted = desired?.persistentDisk ?? null;
    if (disk === undefined || wanted === null || disk.attachedTo !== null || diskFits(disk, wanted))
      return undefined;
    return { requestId: newRequestId(context), cpi: disk.cpi, disk: disk.cid, ...wanted };
  },
  run: async (intent, context) => {
    try {
      const { disk, size } = intent;
      const cloudProperties = await valuesIn(intent.cloudProperties, context);
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
  settle: "run",
  inDoubt: async (intent, error, context) => {
    if (await cloudOf(context, intent.cpi).hasDisk(intent.disk, freshOptions(intent, context))) return UNDONE;
    throw new CpiLost(
      "update_disk",
      `the cloud has no disk ${intent.disk} any more, and the CPI does not say what it became: ${messageTrail(error)}`,
      { cause: error },
    );
  },
});
