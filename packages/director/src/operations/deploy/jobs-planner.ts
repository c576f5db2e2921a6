import { type PlanProblem, problemsError } from "@slipway/engine/documents/problems";
import { type DnsGroup, type DnsIds, groupKey } from "@slipway/engine/jobs/dns/ids";
import { jobsError } from "@slipway/engine/jobs/errors";
import { consumedDeployments } from "@slipway/engine/jobs/links/consumers";
import { type LinkProvider, linkGroupName } from "@slipway/engine/jobs/links/model";
import { variableLinks } from "@slipway/engine/jobs/links/of-variables";
import { diskLinks, dnsGroups } from "@slipway/engine/jobs/links/plan-links";
import type { JobsPlan } from "@slipway/engine/jobs/model";
import { planJobs } from "@slipway/engine/jobs/plan-jobs";
import type { CloudConfig, Manifest } from "@slipway/engine/manifest/model";
import type { DesiredInstance } from "@slipway/engine/model/goal";
import type { InstanceUuid } from "@slipway/engine/model/names";
import type { Placement } from "@slipway/engine/plan/plan";
import { chooseRelease } from "@slipway/engine/releases/choose-release";
import type { KnownRelease } from "@slipway/engine/releases/model";
import { dnsIds, giveDnsIds, type NamedInDns, withProvisional } from "../../store/dns-ids.ts";
import { type DeployedLinks, sharedProviders } from "../../store/links.ts";
import { loadReleases, versionsOf } from "../../store/releases.ts";
import type { TaskContext } from "../../tasks/task.ts";
import { type OperationContext, RELEASE_LOCK_MS, releaseLock } from "../operation.ts";
import type { DeployVariables, NameOfLink } from "./variables.ts";

/** Plans what instances run: once for all as they are planned, and again with what is learned of one of them. */
export interface JobsPlanner {
  readonly all: JobsPlan;
  again(instances: readonly DesiredInstance[], only: InstanceUuid): JobsPlan;
}

interface ToPlan {
  readonly releases: ReadonlyMap<string, KnownRelease>;
  readonly variables: Pick<DeployVariables, "linkConsumers">;
  readonly dryRun: boolean;
}

/** Returns a planner with the links of other deployments, and the numbers that names are made of. */
export async function jobsPlanner(
  { desired, input: { manifest, director, cloudConfig } }: Placement,
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

interface DnsWanted {
  readonly named: NamedInDns;
  /** Deployments whose groups and instances are numbered. */
  readonly deployments: readonly string[];
  /** Instances that may not be recorded yet. */
  readonly uuids: readonly string[];
  readonly dryRun: boolean;
}

/** The numbers that names are made of. What has none gets one; in a dry run for its time only. */
async function dnsNumbers(
  { named, deployments, uuids, dryRun }: DnsWanted,
  task: TaskContext,
  { db }: OperationContext,
): Promise<DnsIds> {
  if (!dryRun) await task.write((tx) => giveDnsIds(tx, named));
  return withProvisional(await dnsIds(db, deployments), named, uuids);
}

/**
 * Returns the names of the links that certificates consume, before any instance is planned. Certificates outlive a dry run: so do
 * the numbers in their names.
 */
export async function linkNames(
  { manifest, cloudConfig }: { readonly manifest: Manifest; readonly cloudConfig: CloudConfig },
  { linkConsumers }: Pick<DeployVariables, "linkConsumers">,
  task: TaskContext,
  tools: OperationContext,
): Promise<NameOfLink> {
  const releases = await knownReleases(manifest, tools);
  const others = consumedDeployments(manifest);
  const named = {
    azs: cloudConfig.azs.map(({ name }) => name),
    networks: cloudConfig.networks.map(({ name }) => name),
    groups: dnsGroups({ manifest, releases }),
  };
  const deployments = [manifest.name, ...others];
  const ids = tools.dns && (await dnsNumbers({ named, deployments, uuids: [], dryRun: false }, task, tools));
  const found = variableLinks({
    director: { name: tools.settings.directorName },
    manifest,
    releases,
    sharedProviders: await sharedProviders(tools.db, others),
    variableConsumers: linkConsumers,
    ...(tools.dns && ids && { dns: { ...tools.dns, ids } }),
  });
  if (!found.ok) throw jobsError(found);
  return (variable, as) => found.nameOf(variable, as);
}

/** Links to keep of a deploy. `planned` is undefined for a deployment without jobs: only its named disks are links. */
export const deployedLinks = (manifest: Manifest, planned: DeployedLinks | undefined): DeployedLinks => ({
  linkProviders: planned?.linkProviders ?? diskLinks(manifest),
  linkConsumers: planned?.linkConsumers ?? [],
  links: planned?.links ?? [],
  formerGroups: new Map(
    manifest.groups
      .filter(({ migratedFrom }) => migratedFrom.length > 0)
      .map(({ name, migratedFrom }) => [name, migratedFrom.map((from) => from.name)]),
  ),
});

/** Returns the uploaded releases that the manifest means, by name. One error names all that are missing. */
export async function knownReleases(
  { releases }: Manifest,
  { db }: OperationContext,
): Promise<ReadonlyMap<string, KnownRelease>> {
  const problems: PlanProblem[] = [];
  const chosen: { readonly name: string; readonly version: string }[] = [];
  for (const wanted of releases) {
    const choice = chooseRelease(wanted, await versionsOf(db, wanted.name));
    if ("problem" in choice) problems.push(choice);
    else chosen.push(choice);
  }
  if (problems.length > 0) throw problemsError("this cannot be deployed", problems);
  return new Map((await loadReleases(db, chosen)).map((one) => [one.name, one]));
}

/**
 * The same under the locks of the releases, as upstream's Director binds them: a deploy waits for an upload or a deletion of
 * one that it means.
 */
export const lockedReleases = (manifest: Manifest, task: TaskContext, tools: OperationContext) =>
  withReleaseLocks(
    manifest.releases.map(({ name }) => name),
    task,
    () => knownReleases(manifest, tools),
  );

/** Always takes the locks in the order of the names, so that two tasks never wait for each other. */
export function withReleaseLocks<T>(
  names: readonly string[],
  task: TaskContext,
  work: () => Promise<T>,
): Promise<T> {
  return [...new Set(names)]
    .sort()
    .reduceRight((inner, name) => () => task.withLock(releaseLock(name), RELEASE_LOCK_MS, inner), work)();
}
