import type { VmCid } from "@slipway/protocol/ids";
import { agentEnvMark } from "../model/agent-env-mark.ts";
import type { DesiredInstance } from "../model/goal.ts";
import { activeVm, type InstanceRecord, type VmRecord } from "../model/records.ts";
import { vmSuits } from "../model/vm-suits.ts";
import type { PlanInput } from "./model.ts";
import type { RequestedState } from "./states.ts";

/** A VM that an interrupted run has made for this, and that serves as well as a new one. */
export const spareVm = (
  recorded: InstanceRecord | undefined,
  wanted: DesiredInstance,
  givenUp: ReadonlyMap<VmCid, string>,
): VmRecord | undefined =>
  recorded?.vms.filter((vm) => !vm.active && vmSuits(vm, wanted) && !givenUp.has(vm.cid)).at(-1);

/** A VM beside the active one that nothing will use. */
export interface Leftover {
  readonly vm: VmRecord;
  readonly reason: string;
}

export const leftoversOf = (
  recorded: InstanceRecord | undefined,
  spare: VmRecord | undefined,
  givenUp: ReadonlyMap<VmCid, string>,
): readonly Leftover[] =>
  (recorded?.vms ?? [])
    .filter((vm) => !vm.active && vm !== spare)
    .map((vm) => {
      const why = givenUp.get(vm.cid);
      const reason =
        why === undefined
          ? `VM '${vm.cid}' was left by an unfinished update`
          : `the agent of VM '${vm.cid}' was never ready, and ${why}`;
      return { vm, reason };
    });

/** VMs whose agent was never ready and that are not waited for again, with why. What this task has made is not among them. */
export const givenUpVms = (
  recorded: InstanceRecord | undefined,
  request: RequestedState,
  input: Pick<PlanInput, "options" | "director">,
): ReadonlyMap<VmCid, string> =>
  new Map(
    (recorded?.vms ?? []).flatMap((vm) => {
      const why = whyGivenUp(vm, request, input);
      return why === undefined ? [] : [[vm.cid, why]];
    }),
  );

/** Why a VM whose agent does not answer, and never did, is not waited for. */
export function whyGivenUp(
  vm: VmRecord,
  request: RequestedState,
  { options, director }: Pick<PlanInput, "options" | "director">,
): string | undefined {
  if (vm.ready) return undefined;
  const isOlder = (than = Number.POSITIVE_INFINITY) => vm.createdAt < than;
  if ((options.recreate || request.recreate) && isOlder(options.recreateVmsCreatedBefore))
    return "recreate was asked for";
  if (options.fix && isOlder(options.askedAt)) return "--fix was given";
  return newAgentEnv(vm, director);
}

/**
 * Returns the reason to replace a VM if the env of all agents has changed before its agent was ready. Later it is no reason, as
 * upstream has it.
 */
export function newAgentEnv(vm: VmRecord, { agentEnv }: PlanInput["director"]): string | undefined {
  if (vm.ready || agentEnv === undefined || vm.agentEnv === undefined) return undefined;
  return vm.agentEnv === agentEnvMark(agentEnv, vm.agentId)
    ? undefined
    : "the Director's agent.env has changed";
}

/** Addresses the instance holds that neither its plan nor any of its VMs uses. */
export function idleAddresses(
  recorded: InstanceRecord | undefined,
  wanted: DesiredInstance,
): readonly string[] {
  const needed = new Set(wanted.ips.map(({ address }) => address));
  const held = (recorded?.ips ?? []).filter(({ address }) => !needed.has(address));
  if (recorded === undefined || held.length === 0) return [];
  const used = new Set(Object.values(activeVm(recorded)?.networks ?? {}).map(({ ip }) => ip));
  return held.flatMap(({ address }) => (used.has(address) ? [] : [address]));
}
