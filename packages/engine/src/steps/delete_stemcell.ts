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

interface Deleted {
  /** Why it may still be in the cloud. */
  readonly left: string | undefined;
}

export const deleteStemcell = rerunStep<StemcellRemoval, Deleted, StemcellRemoval>({
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
      if (refusedAs(error, "StemcellNotFound")) return { left: undefined };
      if (!force) throw error;
      return { left: messageTrail(error) };
    }
    return { left: undefined };
  },
  record: ({ name, version, cid, cpi }, { left }, writes) => {
    writes.removeStemcell(cid, cpi);
    if (left === undefined) return;
    writes.addStray({
      kind: "stemcell",
      cpi,
      requestId: cid,
      about: `stemcell ${name}/${version} with the cid ${cid}`,
      why: `its record was deleted by force, and the CPI did not delete it: ${left}`,
      addresses: [],
    });
  },
  event: ({ name, version }) => ({
    action: "delete",
    objectType: "stemcell",
    objectName: `${name}/${version}`,
  }),
});
