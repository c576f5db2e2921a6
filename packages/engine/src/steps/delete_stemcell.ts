import { messageTrail } from "@slipway/kernel/errors";
import type { StemcellCid } from "@slipway/protocol/ids";
import { refusedAs } from "../clouds/cloud.ts";
import { newRequestId } from "./calls.ts";
import { cloudOf } from "./context.ts";
import { rerunStep } from "./define.ts";

export interface StemcellRemoval {
  readonly name: string;
  readonly version: string;
  readonly cid: StemcellCid;
  readonly cpi: string;
  /** The record goes whatever the CPI says. */
  readonly force: boolean;
}

export const deleteStemcell = rerunStep<StemcellRemoval, void, StemcellRemoval>({
  name: "delete_stemcell",
  subject: "stemcell",
  calls: ["cpi delete_stemcell"],
  intent: (stemcell) => stemcell,
  run: async ({ cid, cpi, force }, context) => {
    const { signal, cpiLog: log } = context;
    try {
      await cloudOf(context, cpi).deleteStemcell(cid, { requestId: newRequestId(context), signal, log });
    } catch (error) {
      signal.throwIfAborted();
      if (!force && !refusedAs(error, "StemcellNotFound")) throw error;
      context.debug(
        `deleting stemcell ${cid} from the cloud failed and was passed over: ${messageTrail(error)}`,
      );
    }
  },
  record: ({ cid, cpi }, _, writes) => writes.removeStemcell(cid, cpi),
  event: ({ name, version }) => ({
    action: "delete",
    objectType: "stemcell",
    objectName: `${name}/${version}`,
  }),
});
