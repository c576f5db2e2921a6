import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseYaml } from "@slipway/engine/documents/yaml";
import { unpackRelease } from "@slipway/engine/releases/archive";
import { verifyDigest } from "@slipway/engine/stemcells/digest";
import { exists } from "@slipway/kernel/files";
import { FileUnreadable } from "../interpolate/errors.ts";
import type { BuiltRelease, BuiltResource } from "./built-release.ts";
import { readRest } from "./read-manifest.ts";

/** Takes a release's tarball apart, checks all of it and hands it on; its parts are gone afterwards. */
export async function withTarball<T>(
  file: string,
  signal: AbortSignal,
  use: (release: BuiltRelease) => Promise<T>,
): Promise<T> {
  if (!(await exists(file))) throw FileUnreadable({ what: "release", path: file });
  const dir = await mkdtemp(join(tmpdir(), "slipway-release-"));
  try {
    return await use(await opened(file, dir, signal));
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

async function opened(file: string, dir: string, signal: AbortSignal): Promise<BuiltRelease> {
  const { release, jobs, packages } = await unpackRelease(file, dir, { signal });
  const rest = readRest(parseYaml(await readFile(join(dir, "release.MF"), "utf8"), "release.MF"), file);
  const { name, version, commitHash, uncommittedChanges } = release;
  return {
    ...{ name, version, commit: commitHash, uncommittedChanges, noCompression: rest.noCompression },
    jobs: jobs.map(({ name: job, fingerprint, digest, job: { packages: needs } }) => ({
      ...{ name: job, fingerprint, digest, needs, file: join(dir, "jobs", `${job}.tgz`) },
    })),
    packages: packages.map((one) => ({
      ...{ name: one.name, fingerprint: one.fingerprint, digest: one.digest, needs: one.dependencies },
      file: one.file ?? "",
      stemcell: one.stemcell === undefined ? undefined : `${one.stemcell.os}/${one.stemcell.version}`,
    })),
    license: await license(dir, rest.license),
  };
}

async function license(
  dir: string,
  entry: { readonly fingerprint: string; readonly digest: string } | undefined,
): Promise<BuiltResource | undefined> {
  const file = join(dir, "license.tgz");
  if (entry === undefined || !(await exists(file))) return undefined;
  await verifyDigest(file, entry.digest, "license");
  return { name: "license", needs: [], file, ...entry };
}
