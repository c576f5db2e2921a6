import { settleOpenIntents } from "@slipway/engine/flows/settle";
import type { FlowContext } from "@slipway/engine/steps/context";
import type { TaskContext } from "../../tasks/task.ts";
import { DEPLOYMENT_LOCK_MS, deploymentLock, flowContext, type OperationContext } from "../operation.ts";

/** Alone with the deployment, and with nothing left open: a snapshot that a killed Director took is known by then. */
export const withDeployment = <T>(
  name: string,
  task: TaskContext,
  tools: OperationContext,
  work: (context: FlowContext) => Promise<T>,
): Promise<T> =>
  task.withLock(deploymentLock(name), DEPLOYMENT_LOCK_MS, async () => {
    const context = flowContext(tools, task, name);
    await settleOpenIntents(context);
    return await work(context);
  });
