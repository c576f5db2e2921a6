import { refusedAs } from "@slipway/engine/clouds/cloud";
import { newRequestId } from "@slipway/engine/flows/calls";
import type { Session } from "./session.ts";
import type { Stages } from "./stages.ts";

/** Disks that no longer belong to an instance. A crash in between asks for the same once more. */
export async function deleteUnusedDisks(
  { store, cloud, context }: Session,
  stages: Stages,
  word: string,
): Promise<void> {
  for (const cid of store.document.slipway.unusedDisks) {
    await stages.step(`${word} '${cid}'`, async () => {
      try {
        await cloud.deleteDisk(cid, callOf(context));
      } catch (error) {
        if (!refusedAs(error, "DiskNotFound")) throw error;
      }
      await store.update((draft) => {
        draft.slipway.unusedDisks = draft.slipway.unusedDisks.filter((one) => one !== cid);
        draft.disks = (draft.disks ?? []).filter((one) => one.cid !== cid);
      });
    });
  }
}

/** Stemcells no VM is made from any more: all but the current one. */
export async function deleteUnusedStemcells(
  { store, cloud, context }: Session,
  stages: Stages,
  word: string,
): Promise<void> {
  const current = store.document.current_stemcell_id;
  for (const { id, cid } of store.document.stemcells ?? []) {
    if (id === current) continue;
    await stages.step(`${word} '${cid}'`, async () => {
      try {
        await cloud.deleteStemcell(cid, callOf(context));
      } catch (error) {
        if (!refusedAs(error, "StemcellNotFound")) throw error;
      }
      await store.update((draft) => {
        draft.stemcells = (draft.stemcells ?? []).filter((one) => one.id !== id);
      });
    });
  }
}

const callOf = (context: Session["context"]) => ({
  requestId: newRequestId(context),
  signal: context.signal,
  log: context.cpiLog,
});
