import { runOther } from "@slipway/engine/flows/run-steps";
import type { EnvSession } from "./session.ts";
import type { Stages } from "./stages.ts";

/** Disks that no longer belong to an instance. A crash in between asks for the same once more. */
export async function deleteUnusedDisks(
  { store, context }: EnvSession,
  stages: Stages,
  word: string,
): Promise<void> {
  for (const cid of store.document.slipway.unusedDisks)
    await stages.step(`${word} '${cid}'`, () => runOther("delete_disk", { cid, cpi: "" }, context));
}

/** Stemcells no VM is made from any more: all but the current one. */
export async function deleteUnusedStemcells(
  { store, context }: EnvSession,
  stages: Stages,
  word: string,
): Promise<void> {
  const current = store.document.current_stemcell_id;
  for (const { id, cid, name, version } of store.document.stemcells ?? []) {
    if (id === current) continue;
    const stemcell = { name, version, cid, cpi: "", force: false };
    await stages.step(`${word} '${cid}'`, () => runOther("delete_stemcell", stemcell, context));
  }
}
