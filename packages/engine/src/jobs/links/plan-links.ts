import { newReport, type PlanProblem, type Report } from "../../documents/problems.ts";
import type { Naming } from "../dns/address.ts";
import type { DnsGroup } from "../dns/ids.ts";
import type { JobsInput, PlacedJob } from "../model.ts";
import { placeJobs } from "../place-jobs.ts";
import { consumersOf } from "./consumers.ts";
import { diskContent } from "./content.ts";
import {
  type LinkConsumer,
  type LinkProvider,
  linkGroupName,
  type PlannedLink,
  type PlannedProvider,
} from "./model.ts";
import { diskProviders, providersOf } from "./providers.ts";
import { resolveLinks } from "./resolve.ts";
import { linksFailed, linksReport } from "./words.ts";

/** Links of a deployment that the Director stores: other deployments may consume them, and operators list them. */
export interface DeploymentLinks {
  readonly providers: readonly PlannedProvider[];
  readonly consumers: readonly LinkConsumer[];
  readonly links: readonly PlannedLink[];
}

export type PlannedLinks =
  | { readonly ok: true; readonly links: DeploymentLinks; readonly notes: readonly string[] }
  | {
      readonly ok: false;
      readonly what: string;
      readonly problems: readonly PlanProblem[];
      readonly report: string;
    };

/** All links of a deployment. What is wrong with their form goes to the report, and then none is resolved. */
export function planLinks(
  input: JobsInput,
  placed: readonly PlacedJob[],
  naming: Naming,
  report: Report,
): PlannedLinks | undefined {
  const { deployment } = naming;
  const notes: string[] = [];
  const parsing = { deployment, report, note: (text: string) => void notes.push(text) };
  const providers = [
    ...placed.flatMap((one) => providersOf(one, parsing)),
    ...input.manifest.groups.flatMap((group) => diskProviders(group, deployment)),
  ];
  const others = input.sharedProviders ?? new Map();
  const consumers = [
    ...placed.flatMap((one) => consumersOf(one, others, parsing)),
    ...(input.variableConsumers ?? []),
  ];
  if (report.problems.length > 0) return undefined;
  const resolved = resolveLinks(providers, consumers, input, naming);
  const { problems } = resolved;
  if (problems.length > 0) {
    const texts = problems.map(({ problem }) => problem);
    return { ok: false, what: linksFailed(deployment), problems, report: linksReport(deployment, texts) };
  }
  const links = { providers: resolved.providers, consumers, links: resolved.links };
  return { ok: true, links, notes: [...notes, ...resolved.notes] };
}

/** Named disks of a deployment, each a link of its own. */
export const diskLinks = ({
  name,
  groups,
}: Pick<JobsInput["manifest"], "name" | "groups">): readonly PlannedProvider[] =>
  groups.flatMap((group) =>
    diskProviders(group, name).map((disk) => ({ ...disk, content: diskContent(disk) })),
  );

/** All groups of a deployment that have a number in DNS, before anything is planned with these numbers. */
export function dnsGroups({
  manifest,
  releases,
}: Pick<JobsInput, "manifest" | "releases">): readonly DnsGroup[] {
  const deployment = manifest.name;
  const nobody = newReport();
  const placed = placeJobs({ manifest, releases }, nobody);
  const parsing = { deployment, report: nobody, note: () => undefined };
  const providers: readonly Pick<LinkProvider, "name" | "type">[] = placed.flatMap((one) => [
    ...providersOf(one, parsing),
    ...consumersOf(one, new Map(), parsing)
      .filter(({ manual }) => manual !== undefined)
      .map(({ originalName, type }) => ({ name: originalName, type })),
  ]);
  const links = new Set(providers.map(linkGroupName));
  return [
    ...manifest.groups.map(({ name }) => ({ type: "instance-group", name, deployment }) as const),
    ...[...links].map((name) => ({ type: "link", name, deployment }) as const),
  ];
}
