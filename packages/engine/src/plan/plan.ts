import { newReport, type Report } from "../documents/problems.ts";
import { parseBlock } from "../manifest/ip.ts";
import type { DesiredInstance } from "../model/goal.ts";
import { slug } from "../model/names.ts";
import { activeVm, type InstanceRecord, type StemcellRecord } from "../model/records.ts";
import { type Candidates, findCandidates } from "./candidates.ts";
import { planDeletion } from "./deletion.ts";
import { instanceTemplates } from "./desired.ts";
import { type PlannedInstance, type Planning, planInstance, refuseUnresponsive } from "./instance.ts";
import { type Holder, type Ledger, newLedger } from "./ips.ts";
import type { GroupPlan, InstancePlan, Plan, PlanInput, Planned } from "./model.ts";
import { poolsOfNetworks } from "./network-pools.ts";
import { atLeastOne, batchesOf, inOrder } from "./order.ts";
import { type Placed, type PlacedGroup, placeGroups } from "./placement.ts";
import { claimStatics } from "./reservations.ts";
import { checkStateChange, skipsDrain } from "./states.ts";
import { stemcellsByAlias } from "./stemcells.ts";

/** From what is wanted and what is recorded to what is to be done. Nothing is asked, nothing is changed. */
export function plan(input: PlanInput): Planned {
  const report = newReport();
  const poolsByNetwork = poolsOfNetworks(input.cloudConfig);
  const sets = stemcellsByAlias(input.manifest, input.stemcells, report);
  const candidates = findCandidates(input.manifest, input.instances, report);
  refuseIgnoredDeletion(candidates, report);
  const placed = placeGroups(input, candidates, poolsByNetwork, report);
  checkStateChange(input.options.state, placed, report);

  const ledger = newLedger();
  const holder = holders(input, ledger);
  const idleErrands = idleErrandsOf(placed, input);
  for (const group of placed.filter(({ group: { name } }) => !idleErrands.has(name)))
    for (const one of group.placed)
      claimStatics(one, poolsByNetwork, input.manifest.name, holder(one), ledger, report);

  const planning: Planning = { input, poolsByNetwork, ledger, holder, idleErrands, report };
  const instanceTemplate = instanceTemplates(input, sets, report);
  const planned = placed.map((group) => ({
    ...group,
    instances: group.placed.flatMap((one) => {
      const common = instanceTemplate(one.group, one.az);
      return common === undefined ? [] : [planInstance(one, common, planning)];
    }),
  }));
  const orphanObsolete = input.manifest.update.vmStrategy === "create-swap-delete";
  const obsolete = candidates.obsolete.map((one) =>
    deletion(one, `instance group '${one.group}' is no longer in the manifest`, orphanObsolete, planning),
  );
  const groups = planned.map((one) => ({ group: one.group, plan: groupPlan(one, planning) }));
  if (report.problems.length > 0) return { ok: false, problems: report.problems };
  const all = planned.flatMap(({ instances }) => instances);
  return {
    ok: true,
    plan: {
      obsolete,
      missingVms: all.flatMap(({ early }) => early ?? []),
      groups: inOrder(groups),
      desired: all.map(({ desired }) => desired),
      idleErrands,
      stemcells: usedStemcells([...sets.values()].flatMap(({ records }) => records)),
      notes: notesOf(planned, input),
    },
  };
}

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
function holders(input: PlanInput, ledger: Ledger): (placed: Placed) => Holder {
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
    if (block !== undefined) ledger.claim(block.first, { uuid: undefined, text: () => who }, block.size);
  }
  for (const instance of input.instances)
    for (const ip of instance.ips) {
      const block = parseBlock(ip.address);
      if (block !== undefined) ledger.claim(block.first, holderOf(instance), block.size);
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

function groupPlan(
  { group, placed, surplus, instances }: PlacedGroup & { readonly instances: readonly PlannedInstance[] },
  planning: Planning,
): GroupPlan {
  const { options, firstDeploy } = planning.input;
  const orphanVm = group.update.vmStrategy === "create-swap-delete";
  const why = `instance group '${group.name}' needs ${placed.length} instances`;
  return {
    group: group.name,
    surplus: surplus.map((one) => deletion(one, why, orphanVm, planning)),
    batches: batchesOf(
      group,
      instances.flatMap(({ late }) => late ?? []),
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

function notesOf(
  groups: readonly (PlacedGroup & { readonly instances: readonly PlannedInstance[] })[],
  input: PlanInput,
): readonly string[] {
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
  for (const { desired } of services.flatMap(({ instances }) => instances))
    if (stays(desired)) notes.push(`instance '${slug(desired)}' stays ${desired.state}`);
  return notes;
}
