import type { Amount, InstanceGroup } from "../manifest/model.ts";
import { slug } from "../model/names.ts";
import { compare } from "./candidates.ts";
import type { Batch, GroupPlan, InstancePlan, PlanOptions } from "./model.ts";

type Limits = Pick<PlanOptions, "canaries" | "maxInFlight">;

/** A share is rounded down, and never more than there are. */
export function amountOf(amount: Amount, of: number): number {
  const count = "count" in amount ? amount.count : Math.floor((amount.percent * of) / 100);
  return Math.max(0, Math.min(count, of));
}

/**
 * Zone by zone, that of the bootstrap instance first, and in it the bootstrap instance; canaries are the first few of the
 * first zone.
 */
export function batchesOf(
  group: InstanceGroup,
  changed: readonly InstancePlan[],
  bootstrapAz: string | null | undefined,
  options: Limits,
  firstDeploy: boolean,
): readonly Batch[] {
  const { update } = group;
  const together = firstDeploy && update.initialDeployAzStrategy === "parallel";
  const zones = new Map<string | null, InstancePlan[]>();
  for (const one of changed) {
    const az = together ? null : (one.desired?.az ?? null);
    const there = zones.get(az);
    if (there === undefined) zones.set(az, [one]);
    else there.push(one);
  }
  const rank = (az: string | null) => (az === bootstrapAz ? 0 : az === null ? 1 : 2);
  const ordered = [...zones].sort(([a], [b]) => rank(a) - rank(b) || compare(a ?? "", b ?? ""));
  const batches: Batch[] = [];
  for (const [at, [, instances]] of ordered.entries()) {
    const sorted = instances
      .map((one) => ({ one, name: nameOf(one) }))
      .sort((a, b) => leads(b.one) - leads(a.one) || compare(a.name, b.name))
      .map(({ one }) => one);
    const maxInFlight = atLeastOne(options.maxInFlight ?? update.maxInFlight, sorted.length);
    const canaries = at === 0 ? amountOf(options.canaries ?? update.canaries, sorted.length) : 0;
    if (canaries > 0)
      batches.push({
        canary: true,
        maxInFlight,
        watchMs: update.canaryWatchMs,
        instances: sorted.slice(0, canaries),
      });
    if (canaries < sorted.length)
      batches.push({
        canary: false,
        maxInFlight,
        watchMs: update.updateWatchMs,
        instances: sorted.slice(canaries),
      });
  }
  return batches;
}

/** Clustered jobs rely on the bootstrap instance being updated first, as the canary. */
const leads = ({ desired }: InstancePlan): number => (desired?.bootstrap === true ? 1 : 0);

export const atLeastOne = (amount: Amount, of: number): number => Math.max(1, amountOf(amount, of));

const nameOf = ({ desired, recorded }: InstancePlan): string => {
  const one = desired ?? recorded;
  return one === undefined ? "" : slug(one);
};

/** Neighbours in the manifest that are not serial go together; serial ones each alone. */
export function inOrder(
  plans: readonly { readonly group: InstanceGroup; readonly plan: GroupPlan }[],
): readonly (readonly GroupPlan[])[] {
  const lists: GroupPlan[][] = [];
  let open: GroupPlan[] | undefined;
  for (const { group, plan } of plans) {
    if (!group.update.serial && open !== undefined) {
      open.push(plan);
      continue;
    }
    const list = [plan];
    lists.push(list);
    open = group.update.serial ? undefined : list;
  }
  return lists;
}
