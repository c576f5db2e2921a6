import type { Networks } from "@slipway/protocol/settings/networks";
import { unpinned } from "../documents/pins.ts";
import { differences, sameBeforePins, sameJson } from "../model/equal.ts";
import type { Change, DesiredInstance } from "../model/goal.ts";
import { cpiText } from "../model/names.ts";
import { networkDifferences } from "../model/network-differences.ts";
import type { InstanceRecord, VmRecord } from "../model/records.ts";
import type { InstanceTemplate } from "./desired.ts";
import { type DiskWork, isAttached } from "./disks.ts";
import type { AgentReport, PlanOptions } from "./model.ts";
import type { RequestedState } from "./states.ts";
import { idleAddresses, type Leftover } from "./vms.ts";

/** An instance that has a VM, and what is known of it. */
export interface Known {
  readonly recorded: InstanceRecord;
  readonly vm: VmRecord;
  /** Undefined: the agent was not asked. */
  readonly agent: AgentReport | undefined;
  readonly request: RequestedState;
  readonly options: PlanOptions;
  /** Its agent was never ready: why another is made in its place. */
  readonly givenUp: string | undefined;
}

/** Reasons to replace the VM that do not lie in its networks. */
export function bodyChanges(known: Known, wanted: InstanceTemplate): readonly Change[] {
  const { recorded, vm, agent, request, options, givenUp } = known;
  const found: Change[] = [];
  const asked = options.recreate || request.recreate;
  const old =
    options.recreateVmsCreatedBefore === undefined || vm.createdAt < options.recreateVmsCreatedBefore;
  if (asked && old) found.push({ kind: "recreate", reason: "recreate was asked for" });
  if (agent?.responsive === false)
    found.push({
      kind: "recreate",
      reason: `its agent does not answer (${agent.why}) and ${options.fix ? "--fix was given" : `was never ready, and ${givenUp}`}`,
    });
  else if (givenUp !== undefined && found.length === 0)
    found.push({ kind: "recreate", reason: `its agent was never ready, and ${givenUp}` });
  if (vm.cpi !== wanted.cpi)
    found.push({ kind: "cloud_properties", reason: `${cpiText(vm.cpi)} -> ${cpiText(wanted.cpi)}` });
  if (!sameJson(vm.cloudProperties, wanted.cloudProperties))
    found.push({
      kind: "cloud_properties",
      reason: `cloud properties changed${named(differences(vm.cloudProperties, wanted.cloudProperties))}`,
    });
  if (recorded.spec !== null && !sameJson(recorded.spec.vmResources ?? null, wanted.vmResources ?? null))
    found.push({ kind: "cloud_properties", reason: "vm_resources changed" });
  const { name, version } = wanted.stemcell;
  if (vm.stemcell.name !== name)
    found.push({
      kind: "stemcell",
      reason: `stemcell ${vm.stemcell.name}/${vm.stemcell.version} -> ${name}/${version}`,
    });
  else if (vm.stemcell.version !== version)
    found.push({ kind: "stemcell", reason: `stemcell ${name}/${vm.stemcell.version} -> ${version}` });
  // A variable may have another value by now: that alone is no reason, as upstream has it.
  if (!sameBeforePins(vm.env, wanted.env)) {
    const names = differences(unpinned(vm.env), unpinned(wanted.env));
    found.push({ kind: "env", reason: `env changed${named(names)}` });
  }
  return found;
}

/**
 * Returns the changes of the networks. After a finished update the spec is compared; in an unfinished one the VM may be older or
 * newer than the spec, so the VM is compared.
 */
export function networkChanges({ recorded, vm }: Known, wanted: Networks): readonly Change[] {
  const had = recorded.updateCompleted && recorded.spec !== null ? recorded.spec.networks : vm.networks;
  return networkDifferences(had, wanted).map((reason) => ({ kind: "network", reason }));
}

/** Returns the changes that keep the VM. */
export function inPlaceChanges(
  known: Known,
  wanted: InstanceTemplate,
  group: string,
  disk: DiskWork,
): readonly Change[] {
  const { recorded, vm, agent, request } = known;
  const found: Change[] = [];
  if (!recorded.updateCompleted) found.push({ kind: "dirty", reason: "its last update did not finish" });
  if (request.restart) found.push({ kind: "restart", reason: "restart was asked for" });
  found.push(...diskChanges(disk, vm));
  if (recorded.group !== group)
    found.push({ kind: "job", reason: `migrated from instance group '${recorded.group}'` });
  found.push(...stateChanges(recorded, agent, request));
  if (recorded.spec !== null && !sameJson(recorded.spec.tags, wanted.tags))
    found.push({
      kind: "tags",
      reason: `tags changed${named(differences(recorded.spec.tags, wanted.tags, 1))}`,
    });
  return found;
}

export function diskChanges(disk: DiskWork, vm: VmRecord | undefined): readonly Change[] {
  const found: string[] = [];
  if (disk.how === "first") found.push(`gets a persistent disk of ${disk.wanted?.size} MB`);
  if (disk.how === "remove") found.push(`persistent disk '${disk.active?.cid}' is no longer wanted`);
  if (disk.how === "copy" || disk.how === "resize" || disk.how === "update")
    found.push(...diskDifferences(disk));
  if (disk.how === "keep" && disk.active !== undefined && vm !== undefined) {
    if (!isAttached(disk.active, vm)) found.push(`persistent disk '${disk.active.cid}' is not attached`);
    else if (!disk.active.mounted) found.push(`persistent disk '${disk.active.cid}' is not mounted`);
  }
  return found.map((reason) => ({ kind: "persistent_disk", reason }));
}

function diskDifferences({ active, wanted }: DiskWork): readonly string[] {
  const found: string[] = [];
  if (active?.size !== wanted?.size) found.push(`persistent disk ${active?.size} MB -> ${wanted?.size} MB`);
  const names = differences(active?.cloudProperties, wanted?.cloudProperties);
  if (names.length > 0) found.push(`persistent disk's cloud properties changed${named(names)}`);
  return found.length > 0 ? found : ["new persistent disks were asked for"];
}

/** Returns the changes that the jobs do not notice: leftovers of an interrupted update, and the instance's identity. */
export function quietChanges(
  recorded: InstanceRecord | undefined,
  desired: DesiredInstance,
  leftovers: readonly Leftover[],
  disks: readonly DiskWork[],
): readonly Change[] {
  const found: Change[] = leftovers.map(({ reason }) => ({ kind: "dirty", reason }));
  for (const one of disks.flatMap(({ old }) => old))
    if (!one.active)
      found.push({ kind: "persistent_disk", reason: `disk '${one.cid}' was left by an unfinished change` });
  if (recorded === undefined) return found;
  for (const address of idleAddresses(recorded, desired))
    found.push({ kind: "network", reason: `address ${address} is no longer needed` });
  if (recorded.bootstrap !== desired.bootstrap)
    found.push({
      kind: "configuration",
      reason: desired.bootstrap
        ? "it is the bootstrap instance now"
        : "it is no longer the bootstrap instance",
    });
  if (recorded.az !== desired.az)
    found.push({ kind: "configuration", reason: `zone ${recorded.az ?? "none"} -> ${desired.az ?? "none"}` });
  return found;
}

function stateChanges(
  recorded: InstanceRecord,
  agent: AgentReport | undefined,
  { state }: RequestedState,
): readonly Change[] {
  if (recorded.state !== state) return [{ kind: "state", reason: `state ${recorded.state} -> ${state}` }];
  if (agent?.responsive !== true) return [];
  const running = agent.jobState === "running";
  if (state === "started" && !running)
    return [{ kind: "state", reason: `it is to run, but its agent says '${agent.jobState}'` }];
  if (state === "stopped" && running)
    return [{ kind: "state", reason: "it is to be stopped, but its agent says 'running'" }];
  return [];
}

const named = (names: readonly string[]): string =>
  names.length === 0
    ? ""
    : `: ${names.slice(0, 5).join(", ")}${names.length > 5 ? ` and ${names.length - 5} more` : ""}`;

/** Returns true if there may be jobs to stop; an agent that was not asked counts as running jobs. */
export const mayRun = ({ agent, recorded }: Known): boolean =>
  agent === undefined ? recorded.state === "started" : agent.responsive && agent.jobState !== "stopped";
