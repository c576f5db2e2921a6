import { runOther } from "@slipway/engine/flows/run-steps";
import { claimStemcell, releaseStemcell, type UploadedStemcell } from "../store/stemcells.ts";
import type { TaskContext } from "../tasks/task.ts";
import { deleteClaimed } from "./claimed-deletion.ts";
import { flowContext, type OperationContext } from "./operation.ts";

/**
 * Deletes a stemcell of one CPI that no deployment uses. The stemcell is claimed first: a deploy uses it before the claim or
 * not at all. If the outcome is unknown it stays claimed, until it is deleted or uploaded again.
 */
export async function deleteUploadedStemcell(
  stemcell: UploadedStemcell,
  force: boolean,
  task: TaskContext,
  tools: OperationContext,
): Promise<void> {
  const claim = await task.write((db) => claimStemcell(db, stemcell.id, task.id));
  if (claim === undefined) return;
  await deleteClaimed(
    claim,
    flowContext(tools, task, ""),
    (context) => runOther("delete_stemcell", { ...stemcell, force }, context),
    () => task.write((db) => releaseStemcell(db, stemcell, task.id)),
  );
}
