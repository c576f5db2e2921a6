import { messageTrail } from "@slipway/kernel/errors";
import { type DiskCid, diskCid, requestId } from "@slipway/protocol/ids";
import { jsonObject } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import { CpiLost, refusedAs } from "../clouds/cloud.ts";
import { freshOptions, newRequestId, optionsOf, type PartDone, partOf } from "./calls.ts";
import { cloudOf } from "./context.ts";
import { callStep } from "./define.ts";
import { disksToChange } from "./select.ts";
import { UNDONE } from "./step.ts";
import { valuesIn } from "./values.ts";

const schema = v.object({
  disks: v.array(
    v.object({ requestId, cpi: v.string(), disk: diskCid, size: v.number(), cloudProperties: jsonObject() }),
  ),
});
type Update = v.InferOutput<typeof schema>;
type Updated = Update["disks"][number] & { readonly cid: DiskCid };

/**
 * Updates named disks by the CPI, which may give them other cids. Disks that the CPI cannot change stay as they are, and the plan
 * continues with new ones.
 */
export const updateNamedDisks = callStep<Update, PartDone<Updated>>({
  name: "update_named_disks",
  subject: "disk",
  calls: ["cpi update_disk"],
  status: "updating disk",
  version: 1,
  schema,
  intent: (subject, context) => {
    const disks = disksToChange(subject).map(({ disk, wanted: { size, cloudProperties } }) => ({
      requestId: newRequestId(context),
      cpi: disk.cpi,
      disk: disk.cid,
      size,
      cloudProperties,
    }));
    return disks.length === 0 ? undefined : { disks };
  },
  run: async ({ disks }, context) => {
    const updated: Updated[] = [];
    for (const one of disks)
      try {
        const properties = await valuesIn(one.cloudProperties, context);
        const cloud = cloudOf(context, one.cpi);
        const cid = await cloud.updateDisk(one.disk, one.size, properties, optionsOf(one, context));
        updated.push({ ...one, cid });
      } catch (error) {
        if (!refusedAs(error, "NotSupported", "NotImplemented")) return partOf(updated, error);
        context.warn?.(`the CPI does not change disk '${one.disk}': a new one takes its place, empty`);
      }
    return { done: updated };
  },
  failure: ({ failed }) => failed,
  record: (_, { done }, writes) => {
    for (const { disk, cid, size, cloudProperties } of done)
      writes.updateDisk(disk, { cid, size, cloudProperties });
  },
  settle: "run",
  inDoubt: async ({ disks }, error, context) => {
    for (const one of disks)
      if (!(await cloudOf(context, one.cpi).hasDisk(one.disk, freshOptions(one, context))))
        throw new CpiLost(
          "update_disk",
          `the cloud has no disk ${one.disk} any more, and the CPI does not say what it became: ${messageTrail(error)}`,
          { cause: error },
        );
    return UNDONE;
  },
});
