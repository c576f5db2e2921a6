import type { DiskCid } from "@slipway/protocol/ids";
import { refusedAs } from "../clouds/cloud.ts";
import { newRequestId } from "./calls.ts";
import { cloudOf } from "./context.ts";
import { rerunStep } from "./define.ts";

export interface OrphanDisk {
  readonly cid: DiskCid;
  readonly cpi: string;
  /** Instance the disk belonged to. */
  readonly instance?: string | undefined;
}

/** The one place a disk is deleted, and only one of the orphan list. A crash in between asks for it once more. */
export const deleteDisk = rerunStep<OrphanDisk, void, OrphanDisk>({
  name: "delete_disk",
  subject: "disk",
  calls: ["cpi delete_disk"],
  intent: (disk) => disk,
  run: async ({ cid, cpi }, context) => {
    const { signal, cpiLog: log } = context;
    try {
      await cloudOf(context, cpi).deleteDisk(cid, { requestId: newRequestId(context), signal, log });
    } catch (error) {
      if (!refusedAs(error, "DiskNotFound")) throw error;
      context.debug(`disk ${cid} was gone already`);
    }
  },
  record: ({ cid }, _, writes) => writes.removeOrphanDisk(cid),
  event: ({ cid, instance }) => ({ action: "delete", objectType: "disk", objectName: cid, instance }),
});
