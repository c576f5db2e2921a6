import { settleOpenIntents } from "@slipway/engine/flows/settle";
import type { FoundProblem } from "@slipway/engine/model/problems";
import { scanParams } from "@slipway/protocol/director/task-params";
import { findDeployment } from "../store/deployments.ts";
import { loadInstances } from "../store/instances.ts";
import { saveScan } from "../store/problems.ts";
import { seenSinceRestore, unseenSinceRestore } from "../store/restores.ts";
import { DeploymentGone } from "./errors.ts";
import { deploymentLock, flowContext, operation } from "./operation.ts";
import { scanDisks, scanVms } from "./problems/scan.ts";
import { blocksDeploy, scanUnrecorded } from "./problems/unrecorded.ts";

/** `bosh cloud-check`, first half: compares the records with the cloud. What was begun before is settled first. */
export const cckScan = operation(scanParams, ({ deployment: name }, task, tools) =>
  // As upstream: a deployment that is being changed is not scanned.
  task.withLock(deploymentLock(name), 0, async () => {
    const deployment = await findDeployment(tools.db, name);
    if (deployment === undefined) throw DeploymentGone({ deployment: name });
    const context = flowContext(tools, task, name);
    await settleOpenIntents(context);
    const instances = await loadInstances(tools.db, name);
    const { problems, mounts } = await scanVms(instances, task, context);
    const ofDisks = await scanDisks(instances, mounts, task, context);
    const unrecorded = await scanUnrecorded(instances, task, tools.db, context);
    const restored = (await unseenSinceRestore(tools.db)).some((one) => one.deployment === name);
    const missing = restored ? withoutClaimed(problems, unrecorded) : problems;
    await task.write(async (db) => {
      await saveScan(db, deployment.id, [...missing, ...ofDisks, ...unrecorded]);
      if (!unrecorded.some(blocksDeploy)) await seenSinceRestore(db, name);
    });
    return "scan complete";
  }),
);

/** A VM that is said to be the instance's is looked at first: another one, made beside it, would take its disk. */
function withoutClaimed(
  problems: readonly FoundProblem[],
  unrecorded: readonly FoundProblem[],
): readonly FoundProblem[] {
  const claimed = new Set(
    unrecorded.filter(({ type }) => type === "unrecorded_vm").map(({ instance }) => instance),
  );
  return problems.filter(({ type, instance }) => type !== "missing_vm" || !claimed.has(instance));
}
