import { needsRenewal } from "@slipway/engine/agents/agents";
import { runSteps } from "@slipway/engine/flows/run-steps";
import { display } from "@slipway/engine/model/names";
import { activeVm, type InstanceRecord } from "@slipway/engine/model/records";
import { messageTrail } from "@slipway/kernel/errors";
import * as v from "valibot";
import { loadInstances } from "../store/instances.ts";
import { diskByHand } from "./by-hand.ts";
import { DEPLOYMENT_LOCK_MS, deploymentLock, flowContext, operation } from "./operation.ts";

/** Agents whose certificate ends soon get a new one. One that does not answer is tried again next time. */
export const renewCertificates = operation(v.object({}), async (_, task, tools) => {
  const deployments = await tools.db.selectFrom("deployments").select("name").orderBy("name").execute();
  const stage = task.stage("Renewing certificates");
  let renewed = 0;
  let left = 0;
  for (const { name } of deployments) {
    const due = (await loadInstances(tools.db, name)).filter((one) => isDue(one, tools.clock.now()));
    if (due.length === 0) continue;
    const context = flowContext(tools, task, name);
    await task.withLock(deploymentLock(name), DEPLOYMENT_LOCK_MS, async () => {
      for (const instance of due) {
        try {
          const run = { ...diskByHand(instance, "its certificate ends soon"), watchMs: null };
          await stage.step(display(instance), () => runSteps(["renew_certificate"], run, context));
          renewed += 1;
        } catch (error) {
          task.signal.throwIfAborted();
          task.debug(`${display(instance)}: ${messageTrail(error)}`);
          left += 1;
        }
      }
    });
  }
  return `${renewed} certificates renewed, ${left} left`;
});

export function isDue(instance: InstanceRecord, now: number): boolean {
  const until = activeVm(instance)?.certificateUntil ?? null;
  return until !== null && !instance.ignore && needsRenewal(until, now);
}
