import { messageTrail } from "@slipway/kernel/errors";
import { aboutInstance, type FlowContext } from "../flows/step.ts";
import type { InstanceUuid } from "../model/names.ts";
import { activeVm, type InstanceRecord, type VmRecord } from "../model/records.ts";
import type { AgentReport } from "../plan/model.ts";
import { inFlight } from "./in-flight.ts";

const AT_ONCE = 32;

/** What the agents of all instances say of themselves. Ignored instances are left in peace. */
export async function askAgents(
  instances: readonly InstanceRecord[],
  context: FlowContext,
  timeoutMs?: number,
): Promise<ReadonlyMap<InstanceUuid, AgentReport>> {
  const reports = new Map<InstanceUuid, AgentReport>();
  await inFlight(instances, AT_ONCE, async (instance) => {
    const vm = activeVm(instance);
    if (vm !== undefined && !instance.ignore)
      reports.set(instance.uuid, await ask(vm, aboutInstance(context, instance), timeoutMs));
  });
  return reports;
}

async function ask(vm: VmRecord, context: FlowContext, timeoutMs: number | undefined): Promise<AgentReport> {
  try {
    const agent = context.agents.agent(vm);
    const { jobState, networks } = await agent.getState(false, { signal: context.signal, timeoutMs });
    return { responsive: true, jobState, networks };
  } catch (error) {
    context.signal.throwIfAborted();
    return { responsive: false, why: messageTrail(error) };
  }
}
