import { refusedAs } from "../clouds/cloud.ts";
import type { SubnetRecord } from "../model/records.ts";
import { newRequestId } from "./calls.ts";
import { cloudOf } from "./context.ts";
import { rerunStep } from "./define.ts";

export type SubnetToDelete = Pick<SubnetRecord, "cid" | "cpi">;

/** Deletes a subnet. A subnet that is gone counts as deleted. After a crash the CPI is asked once more. */
export const deleteNetwork = rerunStep<SubnetToDelete, void, SubnetToDelete>({
  name: "delete_network",
  subject: "subnet",
  calls: ["cpi delete_network"],
  intent: ({ cid, cpi }) => ({ cid, cpi }),
  run: async ({ cid, cpi }, context) => {
    const { signal, cpiLog: log } = context;
    try {
      await cloudOf(context, cpi).deleteNetwork(cid, { requestId: newRequestId(context), signal, log });
    } catch (error) {
      if (!refusedAs(error, "NetworkNotFound")) throw error;
      context.debug(`network ${cid} was gone already`);
    }
  },
  record: ({ cid, cpi }, _, writes) => writes.removeSubnet(cid, cpi),
  event: ({ cid }) => ({ action: "delete", objectType: "subnet", objectName: cid }),
});
