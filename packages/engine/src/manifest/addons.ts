import { type Fields, mapsOf } from "../documents/fields.ts";
import { type Report, shown } from "../documents/problems.ts";
import {
  type AddonFilter,
  type AddonLevel,
  type FilteredGroup,
  fits,
  hasRules,
  readFilter,
} from "./addon-filter.ts";
import { checkIdentifier } from "./canonical.ts";
import type { ManifestJob } from "./model.ts";

const RELEASE_NOT_LISTED = 530002;

/** Jobs that are added to the groups a filter chooses. */
export interface Addon {
  readonly name: string;
  readonly where: string;
  readonly jobs: readonly ManifestJob[];
  readonly include: AddonFilter;
  readonly exclude: AddonFilter;
}

/** `addons` of a manifest or runtime config. `releases`: those that the same document lists. */
export function readAddons(
  report: Report,
  items: readonly unknown[] | undefined,
  where: string,
  level: AddonLevel,
  releases: ReadonlySet<string>,
): readonly Addon[] {
  return mapsOf(report, items, where).flatMap((addon) => {
    const name = addon.needText("name", "Give the addon a name.");
    const jobs = readJobs(report, addon, level, releases);
    const include = readFilter(report, addon, "include", level);
    const exclude = readFilter(report, addon, "exclude", level);
    return name === undefined ? [] : [{ name, where: addon.where, jobs, include, exclude }];
  });
}

function readJobs(
  report: Report,
  addon: Fields,
  level: AddonLevel,
  releases: ReadonlySet<string>,
): readonly ManifestJob[] {
  const shared = addon.object("properties") ?? {};
  return mapsOf(report, addon.list("jobs"), addon.at("jobs")).flatMap((job) => {
    const name = job.needText("name", "Give the job's name.");
    if (name !== undefined) checkIdentifier(report, name, job.at("name"));
    const release = job.needText("release", "Name the release the job comes from.");
    const given = {
      // Never those of the group.
      properties: job.object("properties") ?? shared,
      consumes: job.object("consumes") ?? {},
      provides: job.object("provides") ?? {},
      customProviders: [],
    };
    if (name === undefined || release === undefined) return [];
    if (!releases.has(release))
      job.wrong(
        RELEASE_NOT_LISTED,
        "release",
        `Manifest specifies job '${shown(name)}' which is defined in '${shown(release)}', but '${shown(release)}' ` +
          `is not listed in the ${level} releases section.`,
        "Add it to the releases of the same document, or correct the name.",
      );
    return [{ name, release, ...given }];
  });
}

export const isFor = ({ include, exclude }: Addon, group: FilteredGroup): boolean =>
  fits(include, group) && !(hasRules(exclude) && fits(exclude, group));
