import { normalVersion } from "@slipway/protocol/release/release-mf";
import { type Report, shown } from "../documents/problems.ts";
import type { FilteredGroup } from "./addon-filter.ts";
import { type Addon, isFor } from "./addons.ts";
import type { InstanceGroup, Manifest, ManifestJob, ManifestRelease } from "./model.ts";
import type { RuntimeConfig, RuntimeConfigs } from "./runtime-config.ts";
import { isRelative } from "./versions.ts";

const JOB_TWICE = 140010;
const OTHER_VERSION = 530003;

/** Facts beside the manifest that filters of addons look at. */
export interface AddonFacts {
  readonly teams: readonly string[];
  /** Operating systems by the alias of the stemcell. */
  readonly os: ReadonlyMap<string, string>;
}

/**
 * The manifest with the jobs of all addons in the groups they are for: its own first, then those of the runtime configs,
 * each with the releases it needs. What an addon adds is there for the filters of the next.
 */
export function applyAddons(
  manifest: Manifest,
  { configs, tags }: RuntimeConfigs,
  { teams, os }: AddonFacts,
  report: Report,
): Manifest {
  const releases = new Map<string, ManifestRelease>(manifest.releases.map((one) => [one.name, one]));
  const jobs = new Map<InstanceGroup, readonly ManifestJob[]>(
    manifest.groups.map((group) => [group, group.jobs]),
  );
  const add = (addon: Addon, config: RuntimeConfig | undefined) => {
    for (const group of manifest.groups) {
      const there = jobs.get(group) ?? [];
      const asked: FilteredGroup = {
        ...group,
        jobs: there,
        deployment: manifest.name,
        teams,
        os: os.get(group.stemcell),
      };
      if (!isFor(addon, asked)) continue;
      if (config !== undefined) addReleases(addon, config, releases, report);
      jobs.set(group, [...there, ...newJobs(addon, group, there, report)]);
    }
  };
  for (const addon of manifest.addons) add(addon, undefined);
  for (const config of configs) for (const addon of config.addons) add(addon, config);
  return {
    ...manifest,
    releases: [...releases.values()],
    groups: manifest.groups.map((group) => ({ ...group, jobs: jobs.get(group) ?? group.jobs })),
    tags: { ...tags, ...manifest.tags },
    addons: [],
  };
}

function newJobs(
  addon: Addon,
  group: InstanceGroup,
  there: readonly ManifestJob[],
  report: Report,
): readonly ManifestJob[] {
  const names = new Set(there.map(({ name }) => name));
  return addon.jobs.filter((job) => {
    const isNew = !names.has(job.name);
    names.add(job.name);
    if (!isNew)
      report.add(
        JOB_TWICE,
        `instance_groups[${shown(group.name)}].jobs[${shown(job.name)}]`,
        `Colocated job '${shown(job.name)}' is already added to the instance group '${shown(group.name)}'`,
        `Take it out of the group, or exclude the group from the addon '${shown(addon.name)}'.`,
      );
    return isNew;
  });
}

function addReleases(
  addon: Addon,
  config: RuntimeConfig,
  releases: Map<string, ManifestRelease>,
  report: Report,
): void {
  const used = new Set(addon.jobs.map(({ release }) => release));
  for (const { where, ...release } of config.releases) {
    const { name, version } = release;
    if (!used.has(name)) continue;
    const there = releases.get(name);
    // What `latest` stands for is known only where the uploaded releases are.
    if (there === undefined) releases.set(name, release);
    else if (isRelative(there.version)) releases.set(name, { ...there, runtimeVersion: version });
    else if (normalVersion(there.version) !== normalVersion(version))
      report.add(OTHER_VERSION, where, versionConflict(name, version, there.version), VERSION_FIX);
  }
}

export const VERSION_FIX = "Use one version in both.";

export const versionConflict = (name: string, runtime: string, deployment: string): string =>
  `Runtime manifest specifies release '${shown(name)}' with version as '${shown(runtime)}'. This conflicts with ` +
  `version '${shown(deployment)}' specified in the deployment manifest.`;
