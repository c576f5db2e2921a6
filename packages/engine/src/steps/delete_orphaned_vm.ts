import type { VmCid } from "@slipway/protocol/ids";
import { refusedAs } from "../clouds/cloud.ts";
import { newRequestId } from "./calls.ts";
import { cloudOf } from "./context.ts";
import { rerunStep } from "./define.ts";

export interface OrphanedVm {
  readonly cid: VmCid;
  readonly cpi: string;
  readonly stemcellApiVersion: number;
  /** Instance the VM belonged to. */
  readonly instance?: string | undefined;
}

/** Deletes a VM without an instance: left by create-swap-delete, or unknown to the records. */
export const deleteOrphanedVm = rerunStep<OrphanedVm, void, OrphanedVm>({
  name: "delete_orphaned_vm",
  subject: "vm",
  calls: ["cpi delete_vm"],
  intent: (vm) => vm,
  run: async ({ cid, cpi, stemcellApiVersion }, context) => {
    const { signal, cpiLog: log } = context;
    const options = { requestId: newRequestId(context), stemcellApiVersion, signal, log };
    try {
      await cloudOf(context, cpi).deleteVm(cid, options);
    } catch (error) {
      if (!refusedAs(error, "VMNotFound")) throw error;
      context.debug(`VM ${cid} was gone already`);
      context.gone?.(cid);
    }
  },
  record: ({ cid }, _, writes) => writes.removeOrphanedVm(cid),
  event: ({ cid, instance }) => ({ action: "delete", objectType: "vm", objectName: cid, instance }),
});
