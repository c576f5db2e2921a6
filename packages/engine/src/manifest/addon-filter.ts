import { type Fields, fieldsOf, mapsOf } from "../documents/fields.ts";
import { type Report, shown } from "../documents/problems.ts";
import { own } from "../documents/tree.ts";
import type { InstanceGroup } from "./model.ts";

const INCOMPLETE_JOB = 530004;
const INCOMPLETE_STEMCELL = 530005;
const NO_DEPLOYMENTS_HERE = 530006;

/** Source of an addon: a deployment's manifest, or a runtime config, which is for all deployments. */
export type AddonLevel = "deployment" | "runtime";

/** `include` or `exclude` of an addon. A rule that is empty says nothing. */
export interface AddonFilter {
  readonly deployments: readonly string[];
  readonly groups: readonly string[];
  readonly jobs: readonly { readonly name: string; readonly release: string }[];
  /** Operating systems of stemcells. */
  readonly stemcells: readonly string[];
  readonly networks: readonly string[];
  readonly teams: readonly string[];
  readonly azs: readonly string[];
  readonly lifecycle: string | undefined;
}

/** Part of an instance group that filters look at. */
export interface FilteredGroup
  extends Pick<InstanceGroup, "name" | "azs" | "networks" | "jobs" | "lifecycle"> {
  readonly deployment: string;
  readonly teams: readonly string[];
  /** Undefined: its stemcell is not known. */
  readonly os: string | undefined;
}

export function readFilter(
  report: Report,
  addon: Fields,
  key: "include" | "exclude",
  level: AddonLevel,
): AddonFilter {
  const filter = fieldsOf(report, addon.object(key) ?? {}, addon.at(key));
  const deployments = filter.texts("deployments") ?? [];
  if (level === "deployment" && deployments.length > 0)
    filter.wrong(
      NO_DEPLOYMENTS_HERE,
      "deployments",
      "Deployment filter is not allowed for deployment level addons.",
      "Remove it: these addons are for this deployment only.",
    );
  const section = `in ${level} config's ${key} section must have`;
  const jobs = mapsOf(report, filter.list("jobs"), filter.at("jobs")).flatMap((job) => {
    const [name, release] = [job.text("name"), job.text("release")];
    if (name !== undefined && release !== undefined) return [{ name, release }];
    const what = `Job '${shown(own(job.map, "name"))}' ${section} both name and release.`;
    report.add(INCOMPLETE_JOB, job.where, what, "Give both.");
    return [];
  });
  const stemcells = mapsOf(report, filter.list("stemcell"), filter.at("stemcell"), "os").flatMap((one) => {
    const os = one.text("os");
    if (os !== undefined) return [os];
    report.add(
      INCOMPLETE_STEMCELL,
      one.where,
      `Stemcell ${section} an os name.`,
      "Give it: {os: ubuntu-noble}.",
    );
    return [];
  });
  return {
    deployments,
    groups: filter.texts("instance_groups") ?? [],
    jobs,
    stemcells,
    networks: filter.texts("networks") ?? [],
    teams: level === "deployment" ? [] : (filter.texts("teams") ?? []),
    azs: filter.texts("azs") ?? [],
    lifecycle: filter.text("lifecycle"),
  };
}

/** Each rule that there is must fit, by one of what it lists. A filter without rules fits whatever it is asked. */
export function fits(filter: AddonFilter, group: FilteredGroup): boolean {
  const rule = <T>(listed: readonly T[], fit: (one: T) => boolean) => listed.length === 0 || listed.some(fit);
  return (
    rule(filter.deployments, (name) => name === group.deployment) &&
    rule(filter.groups, (name) => name === group.name) &&
    rule(filter.jobs, (one) =>
      group.jobs.some((job) => job.name === one.name && job.release === one.release),
    ) &&
    rule(filter.stemcells, (os) => os === group.os) &&
    rule(filter.networks, (name) => group.networks.some((network) => network.name === name)) &&
    rule(filter.teams, (team) => group.teams.includes(team)) &&
    rule(filter.azs, (az) => (group.azs ?? []).includes(az)) &&
    (filter.lifecycle === undefined || filter.lifecycle === group.lifecycle)
  );
}

export const hasRules = ({ lifecycle, ...lists }: AddonFilter): boolean =>
  lifecycle !== undefined || Object.values(lists).some((list) => list.length > 0);
