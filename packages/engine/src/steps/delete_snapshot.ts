import type { SnapshotCid } from "@slipway/protocol/ids";
import { refusedAs } from "../clouds/cloud.ts";
import { newRequestId } from "./calls.ts";
import { cloudOf } from "./context.ts";
import { rerunStep } from "./define.ts";

export interface KnownSnapshot {
  readonly cid: SnapshotCid;
  readonly cpi: string;
}

/** Deletes a snapshot. A snapshot that is gone counts as deleted. After a crash the CPI is asked once more. */
export const deleteSnapshot = rerunStep<KnownSnapshot, void, KnownSnapshot>({
  name: "delete_snapshot",
  subject: "snapshot",
  calls: ["cpi delete_snapshot"],
  intent: (snapshot) => snapshot,
  run: async ({ cid, cpi }, context) => {
    const { signal, cpiLog: log } = context;
    try {
      await cloudOf(context, cpi).deleteSnapshot(cid, { requestId: newRequestId(context), signal, log });
    } catch (error) {
      // Some CPIs have no other word for it.
      if (!refusedAs(error, "DiskNotFound")) throw error;
      context.debug(`snapshot ${cid} was gone already`);
    }
  },
  record: ({ cid, cpi }, _, writes) => writes.removeSnapshot(cid, cpi),
  event: ({ cid }) => ({ action: "delete", objectType: "snapshot", objectName: cid }),
});
