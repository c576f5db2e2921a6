import { diskCid } from "@slipway/protocol/ids";
import * as v from "valibot";
import { refusedAs } from "../clouds/cloud.ts";
import { activeDisk } from "../model/records.ts";
import { callFields, newRequestId, optionsOf } from "./calls.ts";
import { cloudOf } from "./context.ts";
import { callStep } from "./define.ts";

const schema = v.object({ ...callFields, disk: diskCid, size: v.number() });

/** Resizes the disk by the CPI. If the CPI cannot, the disk stays as it is, and the plan continues with a copy. */
export const resizeDisk = callStep<v.InferOutput<typeof schema>, { readonly resized: boolean }>({
  name: "resize_disk",
  subject: "disk",
  calls: ["cpi resize_disk"],
  status: "resizing disk",
  version: 1,
  schema,
  intent: ({ instance, goal: { desired } }, context) => {
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
  settle: "run",
});
