import { chooseErrand, type ErrandFilter, errandJobs, fitsFilter } from "@slipway/engine/jobs/errands";
import type { InstanceGroup } from "@slipway/engine/manifest/model";
import { type GroupName, slug } from "@slipway/engine/model/names";
import { activeVm, type InstanceRecord } from "@slipway/engine/model/records";
import type { runErrandParams } from "@slipway/protocol/director/task-params";
import type * as v from "valibot";
import type { TaskContext } from "../../tasks/task.ts";
import type { Gathered } from "../deploy/gather.ts";
import { lockedReleases } from "../deploy/jobs-planner.ts";
import type { OperationContext } from "../operation.ts";
import { ErrandFilterUnusable, ErrandOnStopped, NoSuchErrand, NotAnErrand } from "./errors.ts";

/** Targets of an errand. */
export interface Chosen {
  readonly found: Gathered;
  readonly job: string | undefined;
  /** Groups whose VMs are made for it. */
  readonly errandGroups: ReadonlySet<GroupName>;
  /** Instances that run anyway. */
  readonly services: readonly InstanceRecord[];
}

/** Chooses targets by the name of a job or of a group, and by the named instances. */
export async function chooseTargets(
  { errand, instances: filters }: Pick<v.InferOutput<typeof runErrandParams>, "errand" | "instances">,
  found: Gathered,
  task: TaskContext,
  tools: OperationContext,
): Promise<Chosen> {
  const releases = await lockedReleases(found.manifest, task, tools);
  const choice = chooseErrand(errand, found.manifest.groups, errandJobs(releases.values()));
  if (choice === "missing") throw NoSuchErrand({ name: errand });
  if (choice === "no-errand") throw NotAnErrand({ group: errand });
  if (choice.by === "group" && filters.length > 0)
    throw ErrandFilterUnusable({
      why: "Filtering by instances is not supported when running errand by instance group name",
    });
  if (choice.ambiguous)
    task.warn(
      `Ambiguous request: the requested errand name '${errand}' matches both a job name and an errand instance group name. Executing errand on all relevant instances with job '${errand}'.`,
    );
  refuseUnmatched(filters, found, choice.groups);
  const meant = (group: InstanceGroup) => wantsErrandGroup(filters, group, found.instances);
  const errandGroups = choice.groups.filter((group) => group.lifecycle === "errand" && meant(group));
  const serviceNames = new Set<string>(
    choice.groups.filter(({ lifecycle }) => lifecycle === "service").map(({ name }) => name),
  );
  const services = found.instances.filter(
    (one) =>
      serviceNames.has(one.group) &&
      (filters.length === 0 || filters.some((filter) => fitsFilter(filter, one, found.instances))) &&
      hasVm(one, task),
  );
  // The reason why they were stopped is not known. As upstream, except for those that it would not run on.
  const stopped = services.filter(({ state }) => state === "stopped").map(slug);
  if (stopped.length > 0 && tools.options.allowErrandsOnStoppedInstances !== true)
    throw ErrandOnStopped({ instances: stopped, deployment: task.deployment ?? "" });
  if (
    services.some(({ group, uuid }) => services.some((other) => other.group === group && other.uuid !== uuid))
  )
    task.warn(
      "Executing errand on multiple instances in parallel. Use the `--instance` flag to run the errand on a single instance.",
    );
  return {
    found,
    job: choice.by === "job" ? errand : undefined,
    errandGroups: new Set(errandGroups.map(({ name }) => name)),
    services,
  };
}

function hasVm(instance: InstanceRecord, task: TaskContext): boolean {
  if (activeVm(instance) !== undefined) return true;
  task.warn(`Skipping instance: ${slug(instance)} no matching VM reference was found`);
  return false;
}

/** Reports whether the filters select an errand group. Its first instance runs the errand, and may not exist yet. */
const wantsErrandGroup = (
  filters: readonly ErrandFilter[],
  { name }: InstanceGroup,
  instances: readonly InstanceRecord[],
): boolean =>
  filters.length === 0 ||
  filters.some(
    ({ group, id }) =>
      group === name &&
      (id === undefined ||
        ["first", "0"].includes(id) ||
        instances.some((one) => one.group === name && one.index === 0 && one.uuid === id)),
  );

function refuseUnmatched(
  filters: readonly ErrandFilter[],
  { instances }: Gathered,
  groups: readonly InstanceGroup[],
): void {
  const unmatched = filters.filter(
    (filter) =>
      !instances.some((one) => fitsFilter(filter, one, instances)) &&
      !groups.some((group) => group.lifecycle === "errand" && wantsErrandGroup([filter], group, instances)),
  );
  if (unmatched.length === 0) return;
  const shown = unmatched.map(({ group, id }) => (id === undefined ? group : `${group}/${id}`));
  throw ErrandFilterUnusable({ why: `No instances match selection criteria: [${shown.join(", ")}]` });
}
