import type { JsonObject } from "@slipway/protocol/schema/json";
import type { PlanProblem } from "../../documents/problems.ts";
import type { DesiredInstance } from "../../model/goal.ts";
import type { Naming } from "../dns/address.ts";
import { groupBy } from "../group-by.ts";
import type { JobsInput } from "../model.ts";
import { diskContent, linkContent, providerContent } from "./content.ts";
import type { LinkConsumer, LinkProvider, PlannedLink, PlannedProvider, SharedProviders } from "./model.ts";
import { linkProblem } from "./words.ts";

const UNKNOWN = 100;

export interface ResolvedLinks {
  readonly providers: readonly PlannedProvider[];
  readonly links: readonly PlannedLink[];
  readonly problems: readonly PlanProblem[];
  readonly notes: readonly string[];
}

/** Finds the one provider that each consumer means. Reports all links that cannot be resolved. */
export function resolveLinks(
  providers: readonly LinkProvider[],
  consumers: readonly LinkConsumer[],
  { manifest, instances, sharedProviders: others = new Map() }: JobsInput,
  naming: Naming,
): ResolvedLinks {
  // An errand that has never run has no address that a link could name.
  const reachable = instances.filter(({ errand, networks }) => !errand || Object.keys(networks).length > 0);
  const byGroup = groupBy(reachable, ({ group }) => group as string);
  const contentOf = contents(manifest.groups, byGroup, naming);
  const byType = groupBy(
    providers.filter((one) => one.kind !== "manual" && one.consumable),
    ({ type }) => type,
  );
  const links: PlannedLink[] = [];
  const problems: PlanProblem[] = [];
  const notes: string[] = [];
  const manual: PlannedProvider[] = [];
  for (const consumer of consumers) {
    const wrong = (problem: string) => {
      const { group, job, originalName } = consumer;
      const whose = group === "" ? `variables[${job}]` : `instance_groups[${group}].jobs[${job}]`;
      const where = `${whose}.consumes.${originalName}`;
      const fix = "Name one provider of this type by `consumes`, with `from` and perhaps `deployment`.";
      problems.push({ code: UNKNOWN, where, problem, fix });
    };
    if (consumer.manual !== undefined) {
      const provider = manualProvider(consumer, consumer.manual, naming.deployment);
      manual.push(provider);
      links.push({ name: consumer.originalName, consumer, provider, content: consumer.manual });
      continue;
    }
    const found = candidates(consumer, byType, others, naming.deployment);
    const needed = !consumer.optional || (consumer.explicit && !consumer.blocked);
    if (found.length === 0 && !needed) continue;
    const [provider] = found;
    if (provider === undefined || found.length > 1) {
      wrong(linkProblem(consumer, found, consumer.network));
      continue;
    }
    const provided = "content" in provider ? (provider.content as JsonObject) : contentOf(provider);
    const networks = (provided.networks ?? []) as readonly string[];
    if (consumer.network !== undefined && !networks.includes(consumer.network)) {
      wrong(linkProblem(consumer, found, consumer.network));
      continue;
    }
    const told = linkContent(provided, consumer, naming.useDns);
    if (!told.ok) {
      wrong(told.problem);
      continue;
    }
    notes.push(...told.notes);
    links.push({ name: consumer.originalName, consumer, provider, content: told.content });
  }
  const consumed = new Set<LinkProvider>(links.map(({ provider }) => provider));
  const planned = providers.map((one) => ({
    ...one,
    content: one.shared || one.kind === "disk" || consumed.has(one) ? contentOf(one) : null,
  }));
  return { providers: [...planned, ...manual], links, problems, notes };
}

/** Returns the providers of the type that the consumer may use, also matched by name if the manifest mentions the link. */
function candidates(
  consumer: LinkConsumer,
  byType: ReadonlyMap<string, readonly LinkProvider[]>,
  others: SharedProviders,
  deployment: string,
): readonly LinkProvider[] {
  if (consumer.blocked) return [];
  const named = (one: LinkProvider) => !consumer.explicit || one.name === consumer.name;
  if (consumer.deployment === undefined || consumer.deployment === deployment)
    return (byType.get(consumer.type) ?? []).filter(named);
  return (others.get(consumer.deployment) ?? []).filter(
    (one) => one.type === consumer.type && one.consumable && one.shared && named(one),
  );
}

/** Each made once, however many consume it. */
function contents(
  groups: JobsInput["manifest"]["groups"],
  byGroup: ReadonlyMap<string, readonly DesiredInstance[]>,
  naming: Naming,
): (provider: LinkProvider) => JsonObject {
  const known = new Map<string, (typeof groups)[number]>(groups.map((group) => [group.name, group]));
  const made = new Map<LinkProvider, JsonObject>();
  return (provider) => {
    const group = known.get(provider.group);
    const content =
      made.get(provider) ??
      (group === undefined
        ? {}
        : provider.kind === "disk"
          ? diskContent(provider)
          : providerContent(provider, group, byGroup.get(provider.group) ?? [], naming));
    made.set(provider, content);
    return content;
  };
}

const manualProvider = (
  { group, job, originalName, type }: LinkConsumer,
  content: JsonObject,
  deployment: string,
): PlannedProvider => ({
  deployment,
  group,
  job,
  kind: "manual",
  originalName,
  name: originalName,
  type,
  shared: false,
  consumable: true,
  custom: false,
  properties: {},
  aliases: [],
  content,
});
