import type { DnsGroup } from "@slipway/engine/jobs/dns/ids";
import { groupKey } from "@slipway/engine/jobs/dns/ids";
import { jobsError } from "@slipway/engine/jobs/errors";
import { consumedDeployments } from "@slipway/engine/jobs/links/consumers";
import { type LinkProvider, linkGroupName } from "@slipway/engine/jobs/links/model";
import type { JobsPlan } from "@slipway/engine/jobs/model";
import { planJobs } from "@slipway/engine/jobs/plan-jobs";
import type { DesiredInstance } from "@slipway/engine/model/goal";
import type { InstanceUuid } from "@slipway/engine/model/names";
import type { Plan, PlanInput } from "@slipway/engine/plan/model";
import type { KnownRelease } from "@slipway/engine/releases/model";
import type { NamedInDns } from "../../store/dns-ids.ts";
import { sharedProviders } from "../../store/links.ts";
import type { TaskContext } from "../../tasks/task.ts";
import type { OperationContext } from "../operation.ts";
import { dnsNumbers } from "./dns-numbers.ts";
import type { DeployVariables } from "./variables.ts";

/** Plans what instances run: once for all as they are planned, and again with what is learned of one of them. */
export interface JobsPlanner {
  readonly all: JobsPlan;
  again(instances: readonly DesiredInstance[], only: InstanceUuid): JobsPlan;
}

export interface ToPlan {
  readonly releases: ReadonlyMap<string, KnownRelease>;
  readonly variables: Pick<DeployVariables, "linkConsumers">;
  readonly dryRun: boolean;
}

/** Returns a planner with the links of other deployments, and the numbers that names are made of. */
export async function jobsPlanner(
  { desired }: Plan,
  { manifest, director, cloudConfig }: PlanInput,
  { releases, variables, dryRun }: ToPlan,
  task: TaskContext,
  tools: OperationContext,
): Promise<JobsPlanner> {
  const { db, dns } = tools;
  const others = consumedDeployments(manifest);
  const shared = await sharedProviders(db, others);
  const deployments = [manifest.name, ...others];
  const uuids = desired.map(({ uuid }) => uuid);
  const idsOf = (wanted: NamedInDns) =>
    dnsNumbers({ named: wanted, deployments, uuids, dryRun }, task, tools);
  const named: NamedInDns = {
    azs: cloudConfig.azs.map(({ name }) => name),
    networks: cloudConfig.networks.map(({ name }) => name),
    groups: manifest.groups.map(({ name }) => ({ type: "instance-group", name, deployment: manifest.name })),
  };
  let ids = dns && (await idsOf(named));
  const plan = (instances: readonly DesiredInstance[], only?: InstanceUuid): JobsPlan => {
    const names = dns && ids && { ...dns, ids };
    const found = planJobs({
      director,
      manifest,
      releases,
      instances,
      only,
      sharedProviders: shared,
      variableConsumers: variables.linkConsumers,
      ...(names && { dns: names }),
    });
    if (!found.ok) throw jobsError(found);
    return found;
  };
  const first = plan(desired);
  // Which links there are is known only now.
  const links = first.linkProviders.filter(({ kind }) => kind === "job").map(linkGroup);
  if (ids === undefined || links.every((group) => ids?.groups.has(groupKey(group))))
    return { all: first, again: plan };
  ids = await idsOf({ ...named, groups: [...named.groups, ...links] });
  return { all: plan(desired), again: plan };
}

const linkGroup = (provider: LinkProvider): DnsGroup => ({
  type: "link",
  name: linkGroupName(provider),
  deployment: provider.deployment,
});
