import { diskCid, requestId } from "@slipway/protocol/ids";
import * as v from "valibot";
import { refusedAs } from "../clouds/cloud.ts";
import { sameJson } from "../model/equal.ts";
import { newRequestId, optionsOf, type PartDone, partOf } from "./calls.ts";
import { cloudOf } from "./context.ts";
import { callStep } from "./define.ts";
import { disksToChange } from "./select.ts";

const schema = v.object({
  disks: v.array(v.object({ requestId, cpi: v.string(), disk: diskCid, size: v.number() })),
});
type Resize = v.InferOutput<typeof schema>;

/** Resizes named disks by the CPI. Disks that the CPI cannot resize stay as they are, and the plan continues with new ones. */
export const resizeNamedDisks = callStep<Resize, PartDone<Resize["disks"][number]>>({
  name: "resize_named_disks",
  subject: "disk",
  calls: ["cpi resize_disk"],
  status: "resizing disk",
  version: 1,
  schema,
  intent: (subject, context) => {
    const disks = disksToChange(subject)
      .filter(({ disk, wanted }) => sameJson(disk.cloudProperties, wanted.cloudProperties))
      .map(({ disk, wanted }) => ({
        requestId: newRequestId(context),
        cpi: disk.cpi,
        disk: disk.cid,
        size: wanted.size,
      }));
    return disks.length === 0 ? undefined : { disks };
  },
  run: async ({ disks }, context) => {
    const resized: Resize["disks"][number][] = [];
    for (const one of disks)
      try {
        await cloudOf(context, one.cpi).resizeDisk(one.disk, one.size, optionsOf(one, context));
        resized.push(one);
      } catch (error) {
        if (!refusedAs(error, "NotSupported", "NotImplemented")) return partOf(resized, error);
        context.warn?.(`the CPI does not resize disk '${one.disk}': a new one takes its place, empty`);
      }
    return { done: resized };
  },
  failure: ({ failed }) => failed,
  record: (_, { done }, writes) => {
    for (const { disk, size } of done) writes.updateDisk(disk, { size });
  },
  settle: "run",
});
