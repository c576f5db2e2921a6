import { runOther } from "@slipway/engine/flows/run-steps";
import type { FlowContext } from "@slipway/engine/steps/context";
import type { KnownSnapshot } from "@slipway/engine/steps/delete_snapshot";
import type { Stage } from "../../tasks/task.ts";

export async function deleteSnapshots(
  snapshots: readonly KnownSnapshot[],
  stage: Stage,
  context: FlowContext,
): Promise<void> {
  for (const { cid, cpi } of snapshots)
    await stage.step(cid, () => runOther("delete_snapshot", { cid, cpi }, context));
}
