import { type Fields, mapsOf, WRONG_VALUE } from "@slipway/engine/documents/fields";
import type { Report } from "@slipway/engine/documents/problems";
import { isObject, type Json, type JsonObject } from "@slipway/protocol/schema/json";
import { readArchiveUrl } from "./archive-url.ts";
import type { EnvJob, EnvManifest } from "./model.ts";
import { onlyKeys } from "./strict.ts";

export function readReleases(fields: Fields, report: Report, dir: string): EnvManifest["releases"] {
  const seen = new Set<string>();
  return mapsOf(report, fields.list("releases"), "releases").flatMap((release) => {
    onlyKeys(release, ["name", "version", "url", "sha1"]);
    const name = release.needText("name", "Give the release's name.");
    const archive = readArchiveUrl(release, "release", dir);
    if (name === undefined || archive === undefined) return [];
    if (seen.has(name))
      release.wrong(WRONG_VALUE, "name", `release '${name}' is there twice`, "Keep one of them.");
    seen.add(name);
    return [{ name, ...archive }];
  });
}

/** `templates` is the older name of the same list. */
export function readJobs(
  group: Fields,
  report: Report,
  releases: EnvManifest["releases"],
): readonly EnvJob[] {
  const key = group.has("jobs") || !group.has("templates") ? "jobs" : "templates";
  return mapsOf(report, group.list(key), group.at(key)).flatMap((job) => {
    onlyKeys(job, ["name", "release", "properties", "consumes", "provides"]);
    for (const links of ["consumes", "provides"])
      if (Object.keys(job.object(links) ?? {}).length > 0)
        job.wrong(WRONG_VALUE, links, "an environment has one instance and no links", "Remove it.");
    const name = job.needText("name", "Give the job's name.");
    const release = job.needText("release", "Say which release has the job.");
    if (name === undefined || release === undefined) return [];
    if (!releases.some((one) => one.name === release))
      job.wrong(
        WRONG_VALUE,
        "release",
        `there is no release '${release}'`,
        "Name one of the manifest's releases.",
      );
    return [{ name, release, properties: job.object("properties") }];
  });
}

/** Hashes into hashes; everything else is replaced. */
export function merged(under: JsonObject, over: JsonObject): JsonObject {
  const result: Record<string, Json> = { ...under };
  for (const [key, value] of Object.entries(over)) {
    const there = result[key];
    result[key] =
      isObject(there) && isObject(value) ? merged(there as JsonObject, value as JsonObject) : value;
  }
  return result;
}
