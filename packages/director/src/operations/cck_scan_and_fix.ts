import { settleOpenIntents } from "@slipway/engine/flows/settle";
import { describeProblem } from "@slipway/engine/model/problems";
import { scanAndFixParams } from "@slipway/protocol/director/task-params";
import { beginResurrections, endResurrections, startedResurrections } from "../store/health.ts";
import { loadInstances } from "../store/instances.ts";
import { DEPLOYMENT_LOCK_MS, deploymentLock, flowContext, operation } from "./operation.ts";
import { Failures } from "./problems/failures.ts";
import { recreate } from "./problems/recreate.ts";
import { missingVm, scanVms } from "./problems/scan.ts";

/** Creates new VMs for those of some instances that are gone or silent. The health monitor requests it. */
export const cckScanAndFix = operation(scanAndFixParams, ({ deployment, instances }, task, tools) =>
  task.withLock(deploymentLock(deployment), DEPLOYMENT_LOCK_MS, async () => {
    const context = flowContext(tools, task, deployment);
    await settleOpenIntents(context);
    const all = await loadInstances(tools.db, deployment);
    const asked = all.filter(({ uuid }) => instances.includes(uuid));
    const { problems: found, distrust } = await scanVms(asked, task, context);
    for (const [uuid, why] of distrust)
      task.warn(`The VM of ${uuid} is there and is not replaced, since its agent cannot be trusted: ${why}`);
    const gone = found.filter(({ instance }) => !distrust.has(instance));
    // A VM that was made and not brought to its plan, before a crash or a failure, may answer by now.
    const begun = await startedResurrections(tools.db, instances);
    const unfinished = asked.filter(
      ({ uuid, state, ignore, updateCompleted }) =>
        begun.has(uuid) && !updateCompleted && !ignore && state !== "detached",
    );
    const problems = [
      ...gone,
      ...unfinished.filter(({ uuid }) => !found.some(({ instance }) => instance === uuid)).map(missingVm),
    ];
    if (problems.length === 0) return "scan and fix complete";
    const named = problems.map(({ instance }) => instance);
    await task.write((db) => beginResurrections(db, named, task.id));
    const done: string[] = [];
    const failures = new Failures(context);
    const stage = task.stage("Applying problem resolutions", [], problems.length);
    const chosen = problems.map((problem) => ({ problem, wait: true, silent: gone.includes(problem) }));
    await failures.noting(() =>
      recreate(
        chosen,
        // A VM that was kept for inspection was not inspected: the Director waits for it again, and an operator replaces it.
        0,
        {},
        ({ problem }, work) =>
          failures.noting(async () => {
            await stage.step(describeProblem(problem), work);
            done.push(problem.instance);
          }),
        task,
        tools,
        context,
      ),
    );
    await task.write((db) => endResurrections(db, done));
    await context.names?.publish();
    failures.throwIfAny();
    return "scan and fix complete";
  }),
);
