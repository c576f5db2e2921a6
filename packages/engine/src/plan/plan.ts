import { newReport, type PlanProblem, problemsError, type Report } from "../documents/problems.ts";
import { parseBlock } from "../manifest/ip.ts";
import type { DesiredInstance } from "../model/goal.ts";
import { slug } from "../model/names.ts";
import { activeVm, type InstanceRecord, type StemcellRecord } from "../model/records.ts";
import { type Candidates, findCandidates } from "./candidates.ts";
import { planDeletion } from "./deletion.ts";
import { instanceTemplates } from "./desired.ts";
import {
  type InstancePlacement,
  type PlannedInstance,
  type Planning,
  placeInstance,
  planInstance,
  refuseUnresponsive,
} from "./instance.ts";
import { type AddressAllocator, type Holder, newAddressAllocator } from "./ips.ts";
import type { GroupPlan, InstancePlan, JobsByInstance, Plan, PlanInput, Planned } from "./model.ts";
import { poolsOfNetworks } from "./network-pools.ts";
import { atLeastOne, batchesOf, inOrder } from "./order.ts";
import { type Placed, type PlacedGroup, placeGroups } from "./placement.ts";
import { claimStatics } from "./reservations.ts";
import { checkStateChange, skipsDrain } from "./states.ts";
import { stemcellsByAlias } from "./stemcells.ts";

/** First phase of a plan: the instances that stay, with ids, zones and addresses. What they run may depend on all of them. */
export interface Placement {
  readonly input: PlanInput;
  /** All instances that stay, without jobs. */
  readonly desired: readonly DesiredInstance[];
  readonly idleErrands: Plan["idleErrands"];
  readonly stemcells: Plan["stemcells"];
  readonly groups: readonly InstancesOfGroup[];
  readonly obsolete: readonly InstancePlan[];
}

interface InstancesOfGroup extends PlacedGroup {
  readonly instances: readonly InstancePlacement[];
  readonly deletions: readonly InstancePlan[];
}

/** Plans in both phases at once, for instances whose jobs do not matter. */
export function plan(input: PlanInput): Planned {
  const found = placeInstances(input);
  return found.ok ? { ok: true, plan: planSteps(found.placement) } : found;
}

/** Plans in both phases at once. One error names all that prevents the deploy. */
export function planOrThrow(input: PlanInput): Plan {
  const found = plan(input);
  if (!found.ok) throw problemsError("this cannot be deployed", found.problems);
  return found.plan;
}

/** Decides which instances there are and where, and draws their ids. Nothing is asked, nothing is changed. */
export function placeInstances(input: PlanInput): PlacementFound {
  const report = newReport();
  const poolsByNetwork = poolsOfNetworks(input.cloudConfig);
  const sets = stemcellsByAlias(input.manifest, input.stemcells, report);
  const candidates = findCandidates(input.manifest, input.instances, report);
  refuseIgnoredDeletion(candidates, report);
  const placed = placeGroups(input, candidates, poolsByNetwork, report);
  checkStateChange(input.options.state, placed, report);

  const allocator = newAddressAllocator();
  const holder = holders(input, allocator);
  const idleErrands = idleErrandsOf(placed, input);
  for (const group of placed.filter(({ group: { name } }) => !idleErrands.has(name)))
    for (const one of group.placed)
      claimStatics(one, poolsByNetwork, input.manifest.name, holder(one), allocator, report);

  const planning: Planning = { input, poolsByNetwork, allocator, holder, idleErrands, report };
  const instanceTemplate = instanceTemplates(input, sets, report);
  const withInstances = placed.map((group) => ({
    ...group,
    instances: group.placed.flatMap((one) => {
      const common = instanceTemplate(one.group, one.az);
      return common === undefined ? [] : [placeInstance(one, common, planning)];
    }),
  }));
  const orphanObsolete = input.manifest.update.vmStrategy === "create-swap-delete";
  const obsolete = candidates.obsolete.map((one) =>
    deletion(one, `instance group '${one.group}' is no longer in the manifest`, orphanObsolete, planning),
  );
  const groups = withInstances.map((one) => ({ ...one, deletions: deletionsOf(one, planning) }));
  if (report.problems.length > 0) return { ok: false, problems: report.problems };
  return {
    ok: true,
    placement: {
      input,
      desired: groups.flatMap(({ instances }) => instances.map(({ desired }) => desired)),
      idleErrands,
      stemcells: usedStemcells([...sets.values()].flatMap(({ records }) => records)),
      groups,
      obsolete,
    },
  };
}

/** Second phase: the steps that bring the instances to their places and to these jobs. */
export function planSteps(placement: Placement, jobs?: JobsByInstance): Plan {
  const { input, idleErrands, stemcells, obsolete } = placement;
  const planned = placement.groups.map((group) => ({
    ...group,
    planned: group.instances.map((one) => planInstance(one, jobs, input)),
  }));
  const all = planned.flatMap((group) => group.planned);
  return {
    obsolete,
    missingVms: all.flatMap(({ early }) => early ?? []),
    groups: inOrder(planned.map((one) => ({ group: one.group, plan: groupPlan(one, input) }))),
    desired: all.map(({ desired }) => desired),
    idleErrands,
    stemcells,
    notes: notesOf(planned, input),
  };
}

type PlacementFound =
  | { readonly ok: true; readonly placement: Placement }
  | { readonly ok: false; readonly problems: readonly PlanProblem[] };

/** Returns the errand groups that neither run nor have a VM from an earlier run. As upstream, one VM makes all of a group. */
const idleErrandsOf = (placed: readonly PlacedGroup[], { runningErrands }: PlanInput): Plan["idleErrands"] =>
  new Set(
    placed.flatMap(({ group, placed: its }) =>
      group.lifecycle === "errand" &&
      runningErrands?.has(group.name) !== true &&
      !its.some(({ recorded }) => recorded && activeVm(recorded) !== undefined)
        ? [group.name]
        : [],
    ),
  );

/** Every address the Director has given out, with its holder. */
function holders(input: PlanInput, allocator: AddressAllocator): (placed: Placed) => Holder {
  const known = new Map<string, Holder>();
  const { name } = input.manifest;
  const holderOf = (one: { readonly group: string; readonly uuid: InstanceRecord["uuid"] }): Holder => {
    const made = known.get(one.uuid) ?? {
      uuid: one.uuid,
      text: () => `instance '${slug(one)}' from deployment '${name}'`,
    };
    known.set(one.uuid, made);
    return made;
  };
  for (const [text, who] of input.takenIps) {
    const block = parseBlock(text);
    if (block !== undefined) allocator.claim(block.first, { uuid: undefined, text: () => who }, block.size);
  }
  for (const instance of input.instances)
    for (const ip of instance.ips) {
      const block = parseBlock(ip.address);
      if (block !== undefined) allocator.claim(block.first, holderOf(instance), block.size);
    }
  return (placed) => holderOf({ group: placed.group.name, uuid: placed.uuid });
}

function deletion(
  recorded: InstanceRecord,
  why: string,
  orphanVm: boolean,
  { input, report }: Planning,
): InstancePlan {
  const agent = input.agents.get(recorded.uuid);
  refuseUnresponsive({ recorded }, agent, input.options.fix, report);
  return planDeletion(recorded, { agent, orphanVm, skipDrain: skipsDrain(input, recorded.group), why });
}

function deletionsOf({ group, placed, surplus }: PlacedGroup, planning: Planning): readonly InstancePlan[] {
  const orphanVm = group.update.vmStrategy === "create-swap-delete";
  const why = `instance group '${group.name}' needs ${placed.length} instances`;
  return surplus.map((one) => deletion(one, why, orphanVm, planning));
}

type PlannedGroup = InstancesOfGroup & { readonly planned: readonly PlannedInstance[] };

function groupPlan(
  { group, placed, deletions, planned }: PlannedGroup,
  { options, firstDeploy }: PlanInput,
): GroupPlan {
  return {
    group: group.name,
    surplus: deletions,
    batches: batchesOf(
      group,
      planned.flatMap(({ late }) => late ?? []),
      placed.find(({ bootstrap }) => bootstrap)?.az,
      options,
      firstDeploy,
    ),
    maxInFlight: atLeastOne(options.maxInFlight ?? group.update.maxInFlight, Math.max(1, placed.length)),
  };
}

function refuseIgnoredDeletion({ obsolete }: Candidates, report: Report): void {
  for (const group of new Set(obsolete.filter((one) => one.ignore).map((one) => one.group)))
    report.add(
      190021,
      `instance_groups/${group}`,
      `You are trying to delete instance group '${group}', which contains ignored instance(s). Operation not allowed`,
      "Unignore them first, or put the instance group back.",
    );
}

const usedStemcells = (rows: readonly StemcellRecord[]): Plan["stemcells"] => [
  ...new Map(rows.map((row) => [row.id, row])).values(),
];

function notesOf(groups: readonly PlannedGroup[], input: PlanInput): readonly string[] {
  const ignored = groups.flatMap(({ placed }) =>
    placed.flatMap(({ recorded }) => (recorded?.ignore ? [recorded] : [])),
  );
  const notes = ignored.map((one) => `instance '${slug(one)}' is ignored: nothing is changed about it`);
  // Upstream's words; which they are is ours.
  if (ignored.length > 0) notes.unshift("You have ignored instances. They will not be changed.");
  const stays = (desired: DesiredInstance) =>
    desired.state !== "started" && input.options.state === undefined;
  // An errand without a VM is as it should be.
  const services = groups.filter(({ group }) => group.lifecycle === "service");
  for (const { desired } of services.flatMap(({ planned }) => planned))
    if (stays(desired)) notes.push(`instance '${slug(desired)}' stays ${desired.state}`);
  return notes;
}
