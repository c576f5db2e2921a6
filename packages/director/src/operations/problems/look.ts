import { AgentRefused, AgentSilent, WrongAgent } from "@slipway/engine/agents/agent";
import { isDistrust } from "@slipway/engine/agents/distrust";
import { refusedAs } from "@slipway/engine/clouds/cloud";
import type { DiskRecord, VmRecord } from "@slipway/engine/model/records";
import { newRequestId } from "@slipway/engine/steps/calls";
import type { FlowContext } from "@slipway/engine/steps/context";

/** Deadline of an answer, as upstream: a check does not wait for agents that are gone. */
const ANSWER_MS = 10_000;

/** State of a VM: its agent answers, it is there and silent, or the cloud does not have it. */
export type VmSight =
  | {
      readonly how: "answers" /** Undefined: it did not say. */;
      readonly mounted: readonly string[] | undefined;
    }
  | {
      readonly how: "silent" /** Why it could not be asked, when that says nothing of the VM itself. */;
      readonly distrust?: string | undefined;
    }
  | { readonly how: "missing" };

export async function lookAtVm(vm: VmRecord, context: FlowContext): Promise<VmSight> {
  const { mounted, distrust } = await ask(vm, context);
  if (mounted !== "silent") return { how: "answers", mounted };
  return (await isThere(vm, context)) ? { how: "silent", distrust } : { how: "missing" };
}

/** Returns the disks that the agent has mounted; undefined if it answers and does not say. */
export const mountsOf = async (
  vm: VmRecord,
  context: FlowContext,
): Promise<readonly string[] | undefined | "silent"> => (await ask(vm, context)).mounted;

async function ask(
  vm: VmRecord,
  { agents, signal, debug }: FlowContext,
): Promise<{
  readonly mounted: readonly string[] | undefined | "silent";
  readonly distrust?: string | undefined;
}> {
  try {
    return { mounted: await agents.agent(vm).listDisk({ signal, timeoutMs: ANSWER_MS }) };
  } catch (error) {
    signal.throwIfAborted();
    debug(`agent ${vm.agentId}: ${String(error)}`);
    if (error instanceof AgentSilent || error instanceof WrongAgent)
      return { mounted: "silent", distrust: isDistrust(error) ? error.message : undefined };
    if (error instanceof AgentRefused) return { mounted: undefined };
    throw error;
  }
}

/** A CPI that cannot say is believed to have it. */
export const isThere = (vm: VmRecord, context: FlowContext): Promise<boolean> =>
  believed(() =>
    context.clouds.cloud(vm.cpi).hasVm(vm.cid, {
      requestId: newRequestId(context),
      stemcellApiVersion: vm.stemcell.apiVersion,
      signal: context.signal,
      log: context.cpiLog,
    }),
  );

export const hasDisk = (disk: DiskRecord, context: FlowContext): Promise<boolean> =>
  believed(() =>
    context.clouds.cloud(disk.cpi).hasDisk(disk.cid, {
      requestId: newRequestId(context),
      signal: context.signal,
      log: context.cpiLog,
    }),
  );

async function believed(ask: () => Promise<boolean>): Promise<boolean> {
  try {
    return await ask();
  } catch (error) {
    if (refusedAs(error, "NotImplemented", "NotSupported")) return true;
    throw error;
  }
}
