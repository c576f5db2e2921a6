import { isObject, type Json, type JsonObject } from "@slipway/protocol/schema/json";
import { type Report, shown } from "../documents/problems.ts";
import type { InstanceGroup, ManifestJob } from "../manifest/model.ts";
import type { KnownRelease } from "../releases/model.ts";
import { bindProperties } from "../templates/bind-properties.ts";
import { PropertyNotAHash } from "../templates/errors.ts";
import type { JobsInput, PlacedJob } from "./model.ts";

const RELEASE_NOT_FOUND = 30005;
const RELEASE_MISSING_JOB = 140029;
const UNKNOWN = 100;

export const jobPlace = (group: InstanceGroup, job: ManifestJob): string =>
  `instance_groups[${shown(group.name)}].jobs[${shown(job.name)}]`;

/** Finds each job of each group in its release and gives it its properties. What is wrong with one hides no other. */
export function placeJobs(
  { manifest, releases }: Pick<JobsInput, "manifest" | "releases">,
  report: Report,
): readonly PlacedJob[] {
  return manifest.groups.flatMap((group) => {
    // Once for a group: only jobs without their own properties see them.
    const shared = deepMerge(manifest.properties, group.properties);
    return group.jobs.flatMap(
      (job) => placeJob(group, job, job.properties ?? shared, releases, report) ?? [],
    );
  });
}

function placeJob(
  group: InstanceGroup,
  job: ManifestJob,
  given: JsonObject,
  releases: ReadonlyMap<string, KnownRelease>,
  report: Report,
): PlacedJob | undefined {
  const where = jobPlace(group, job);
  const release = releases.get(job.release);
  if (release === undefined) {
    report.add(
      RELEASE_NOT_FOUND,
      where,
      `Release '${shown(job.release)}' doesn't exist`,
      "Upload it (bosh upload-release), and name it in the manifest's releases.",
    );
    return undefined;
  }
  const known = release.jobs.find(({ name }) => name === job.name);
  if (known === undefined) {
    report.add(
      RELEASE_MISSING_JOB,
      where,
      `Job '${shown(job.name)}' not found in release '${shown(release.name)}'`,
      `Correct the name, or use a version of the release that has the job: ${release.name}/${release.version} has not.`,
    );
    return undefined;
  }
  try {
    const properties = bindProperties(known.job.properties, given);
    return { group, manifest: job, release, known, given, properties };
  } catch (error) {
    if (!PropertyNotAHash.is(error)) throw error;
    report.add(UNKNOWN, `${where}.properties`, error.message, error.next);
    return undefined;
  }
}

/** Hashes are merged; of everything else the second holds. */
export function deepMerge(first: JsonObject, second: JsonObject): JsonObject {
  const merged = new Map<string, Json>(Object.entries(first));
  for (const [key, value] of Object.entries(second)) {
    const before = merged.get(key);
    merged.set(
      key,
      isObject(before) && isObject(value) ? deepMerge(before as JsonObject, value as JsonObject) : value,
    );
  }
  return Object.fromEntries(merged);
}
