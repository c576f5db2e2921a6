import type { JsonObject } from "@slipway/protocol/schema/json";
import { newReport } from "../documents/problems.ts";
import type { InstanceUuid } from "../model/names.ts";
import { instanceContext, jobContext } from "./context.ts";
import { type Naming, namingOf } from "./dns/address.ts";
import { groupBy } from "./group-by.ts";
import { type DeploymentLinks, planLinks } from "./links/plan-links.ts";
import { providedLinks, templateLink } from "./links/template-links.ts";
import type { JobsInput, PlacedJob, PlannedJob, PlannedJobs } from "./model.ts";
import { packageCollisions } from "./package-collisions.ts";
import { placeJobs } from "./place-jobs.ts";

/** Plans the jobs of each instance and the context of their templates. Makes no calls, and renders nothing. */
export function planJobs(input: JobsInput): PlannedJobs {
  const report = newReport();
  const naming = namingOf(input);
  const placed = placeJobs(input, report);
  packageCollisions(placed, report);
  const linked = planLinks(input, placed, naming, report);
  if (linked === undefined)
    return { ok: false, what: "the jobs of the manifest cannot be deployed", problems: report.problems };
  if (!linked.ok) return linked;

  const { links } = linked;
  const jobs = groupBy(placed, ({ group }) => group.name);
  const shares = sharedParts(placed, links, naming);
  const instances = new Map<InstanceUuid, readonly PlannedJob[]>();
  for (const instance of input.instances) {
    if (input.only !== undefined && instance.uuid !== input.only) continue;
    const mine = jobs.get(instance.group) ?? [];
    const common = instanceContext(instance, mine, naming);
    instances.set(
      instance.uuid,
      mine.map((job) => plannedJob(job, common, shares)),
    );
  }
  const common = { deployment: naming.deployment };
  const groups = new Map(
    [...jobs].map(([name, its]) => [
      name as string,
      its.map((job) => plannedJob(job, common, shares).context),
    ]),
  );
  return {
    ok: true,
    instances,
    groups,
    linkProviders: links.providers,
    linkConsumers: links.consumers,
    links: links.links,
    notes: linked.notes,
  };
}

type Shares = ReadonlyMap<
  PlacedJob,
  { readonly links: JsonObject; readonly provides: PlannedJob["provides"] }
>;

/** Returns the parts that all instances of a group share, made once for each of its jobs. */
function sharedParts(placed: readonly PlacedJob[], found: DeploymentLinks, { ids }: Naming): Shares {
  const key = (group: string, job: string) => `${group}/${job}`;
  const links = groupBy(found.links, ({ consumer }) => key(consumer.group, consumer.job));
  const ofJobs = found.providers.filter(({ kind }) => kind !== "disk");
  const providers = groupBy(ofJobs, ({ group, job }) => key(group, job));
  return new Map(
    placed.map((one) => {
      const at = key(one.group.name, one.known.name);
      const told = (links.get(at) ?? []).map((link) => [link.name, templateLink(link, ids)] as const);
      const provides = providedLinks(providers.get(at) ?? [], ids);
      return [one, { links: Object.fromEntries(told), provides }];
    }),
  );
}

function plannedJob(placed: PlacedJob, common: JsonObject, shares: Shares): PlannedJob {
  const { links = {}, provides = [] } = shares.get(placed) ?? {};
  const { name, version } = placed.release;
  return {
    release: { name, version },
    job: placed.known,
    context: jobContext(common, placed, links),
    provides,
  };
}
