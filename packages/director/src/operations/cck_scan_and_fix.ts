import { settleOpenIntents } from "@slipway/engine/flows/settle";
import { describeProblem } from "@slipway/engine/model/problems";
import { scanAndFixParams } from "@slipway/protocol/director/task-params";
import { loadInstances } from "../store/instances.ts";
import { adviceOf } from "../tasks/failure.ts";
import { Unresolved } from "./errors.ts";
import { DEPLOYMENT_LOCK_MS, deploymentLock, flowContext, operation } from "./operation.ts";
import { recreate } from "./problems/recreate.ts";
import { missingVm, scanVms } from "./problems/scan.ts";

/** What a health monitor asks for: new VMs for those of some instances that are gone or silent. */
export const cckScanAndFix = operation(scanAndFixParams, ({ deployment, instances }, task, tools) =>
  task.withLock(deploymentLock(deployment), DEPLOYMENT_LOCK_MS, async () => {
    const context = flowContext(tools, task, deployment);
    await settleOpenIntents(context);
    const all = await loadInstances(tools.db, deployment);
    const asked = all.filter(({ uuid }) => instances.includes(uuid));
    const { problems: found } = await scanVms(asked, task, context);
    // After a crash: a VM that was made and not brought to its plan may answer by now.
    const begun = task.attempt > 1 ? asked.filter(({ updateCompleted }) => !updateCompleted) : [];
    const problems = [
      ...found,
      ...begun.filter(({ uuid }) => !found.some(({ instance }) => instance === uuid)).map(missingVm),
    ];
    if (problems.length === 0) return "scan and fix complete";
    const failures: string[] = [];
    const stage = task.stage("Applying problem resolutions", [], problems.length);
    const chosen = problems.map((problem) => ({ problem, wait: true }));
    await recreate(
      chosen,
      {},
      async ({ problem }, work) => {
        try {
          await stage.step(describeProblem(problem), work);
        } catch (error) {
          context.signal.throwIfAborted();
          failures.push(adviceOf(error));
        }
      },
      task,
      tools,
      context,
    );
    if (failures.length > 0) throw Unresolved({ failures });
    return "scan and fix complete";
  }),
);
