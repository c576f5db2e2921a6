import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type UnpackedJob, type UnpackedRelease, unpackRelease } from "@slipway/engine/releases/archive";
import { type ArchiveTools, fetchArchive } from "../archive.ts";
import { JobUnknown, ReleaseNamedOtherwise } from "../errors.ts";
import type { EnvManifest, JobChoice } from "../manifest/model.ts";
import type { Stages } from "../stages.ts";

export type Releases = ReadonlyMap<string, UnpackedRelease>;

/** Every release of the manifest, taken apart below the temporary directory. */
export async function openReleases(
  wanted: EnvManifest["releases"],
  around: ArchiveTools,
  stages: Stages,
): Promise<Releases> {
  const releases = new Map<string, UnpackedRelease>();
  for (const { name, ...archive } of wanted) {
    const file = await fetchArchive(`release '${name}'`, archive, around, stages);
    const dir = join(around.workspace.temporary, "releases", encodeURIComponent(name));
    await mkdir(dir, { recursive: true, mode: 0o700 });
    const release = await stages.step(`Validating release '${name}'`, () =>
      unpackRelease(file, dir, { signal: around.signal }),
    );
    if (release.release.name !== name) throw ReleaseNamedOtherwise({ name, found: release.release.name });
    releases.set(name, release);
  }
  return releases;
}

export function jobOf(releases: Releases, { name, release }: JobChoice): UnpackedJob {
  const found = releases.get(release)?.jobs.find((job) => job.name === name);
  if (found !== undefined) return found;
  const known = releases.get(release)?.jobs.map((job) => job.name) ?? [];
  throw JobUnknown({ job: name, release, known });
}
