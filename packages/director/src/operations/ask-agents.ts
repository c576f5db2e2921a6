import type { InstanceUuid } from "@slipway/engine/model/names";
import { activeVm, type InstanceRecord, type VmRecord } from "@slipway/engine/model/records";
import type { AgentReport } from "@slipway/engine/plan/model";
import { aboutInstance, type FlowContext } from "@slipway/engine/steps/context";
import { messageTrail } from "@slipway/kernel/errors";
import { inFlight } from "./in-flight.ts";

const AT_ONCE = 32;

export interface AskingAgents {
  readonly timeoutMs?: number | undefined;
  /** Instances whose agents were just asked in vain: once is enough. */
  readonly silent?: ReadonlySet<string> | undefined;
}

/** Asks the agents of all instances for their state. Ignored instances are not asked. */
export async function askAgents(
  instances: readonly InstanceRecord[],
  context: FlowContext,
  { timeoutMs, silent }: AskingAgents = {},
): Promise<ReadonlyMap<InstanceUuid, AgentReport>> {
  const reports = new Map<InstanceUuid, AgentReport>();
  await inFlight(instances, AT_ONCE, async (instance) => {
    const vm = activeVm(instance);
    if (vm === undefined || instance.ignore) return;
    if (silent?.has(instance.uuid))
      reports.set(instance.uuid, { responsive: false, why: "it was asked in vain" });
    else reports.set(instance.uuid, await ask(vm, aboutInstance(context, instance), timeoutMs));
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
