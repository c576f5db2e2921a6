import type { Report } from "../documents/problems.ts";
import { slug } from "../model/names.ts";
import type { InstanceState } from "../model/records.ts";
import type { PlanInput, StateChange } from "./model.ts";
import type { Placed, PlacedGroup } from "./placement.ts";

/** Requested change of one instance, beside what the manifest says. */
export interface RequestedState {
  readonly state: InstanceState;
  readonly restart: boolean;
  readonly recreate: boolean;
}

/** A state lasts until another is asked for: a stopped instance stays stopped through deploys. */
export function requestFor(placed: Placed, change: StateChange | undefined): RequestedState {
  const kept = placed.recorded?.state ?? "started";
  if (change === undefined || placed.recorded?.ignore || !isMeant(placed, change))
    return { state: kept, restart: false, recreate: false };
  const { to } = change;
  if (to === "restart" || to === "recreate")
    return { state: "started", restart: to === "restart", recreate: to === "recreate" };
  return { state: to, restart: false, recreate: false };
}

const isMeant = (placed: Placed, { group, instance }: StateChange): boolean =>
  (group === undefined || group === placed.group.name) &&
  (instance === undefined || instance === placed.uuid || instance === String(placed.index));

export function checkStateChange(
  change: StateChange | undefined,
  groups: readonly PlacedGroup[],
  report: Report,
): void {
  if (change === undefined) return;
  const meant = groups.filter(({ group }) => change.group === undefined || change.group === group.name);
  if (meant.length === 0 && change.group !== undefined) {
    report.add(
      70009,
      change.group,
      `Instance group '${change.group}' doesn't exist`,
      "`bosh instances` lists what there is.",
    );
    return;
  }
  if (change.instance === undefined) return;
  const named = meant.flatMap(({ placed }) => placed.filter((one) => isMeant(one, change)));
  const ignored = named.find(({ recorded }) => recorded?.ignore);
  const where = `${change.group ?? "*"}/${change.instance}`;
  if (named.length === 0)
    report.add(70001, where, `Instance '${where}' doesn't exist`, "`bosh instances` lists what there is.");
  if (ignored?.recorded !== undefined)
    report.add(
      140021,
      where,
      `You are trying to change the state of the ignored instance '${slug(ignored.recorded)}'. This operation is not allowed`,
      "You need to unignore it first.",
    );
}

export const skipsDrain = ({ options }: PlanInput, group: string): boolean =>
  options.skipDrain.includes("*") || options.skipDrain.includes(group);
