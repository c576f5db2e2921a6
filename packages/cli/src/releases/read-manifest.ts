import { readFile } from "node:fs/promises";
import { parseYaml } from "@slipway/engine/documents/yaml";
import { ifThere } from "@slipway/kernel/files";
import { readReleaseManifest } from "@slipway/protocol/release/release-mf";
import { check } from "@slipway/protocol/schema/check";
import { open } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import type { ResourceKind } from "./build-index.ts";
import type { BuiltRelease, BuiltResource } from "./built-release.ts";
import { BadReleaseFile } from "./errors.ts";
import { findBuild, type ReleaseDirectory } from "./release-directory.ts";

const restFile = open({
  jobs: v.optional(v.nullable(v.array(open({ packages: v.optional(v.nullable(v.array(v.string()))) })))),
  license: v.optional(v.nullable(open({ fingerprint: v.string(), sha1: v.string() }))),
  no_compression: v.optional(v.nullable(v.boolean())),
});

/** Reads the parts of release.MF that only release authors need. */
export function readRest(document: unknown, file: string) {
  const checked = check(restFile, document, "release.MF");
  if (!checked.ok) throw BadReleaseFile({ file, problems: checked.problems });
  const { jobs, license, no_compression } = checked.value;
  return {
    jobPackages: (jobs ?? []).map(({ packages }) => packages ?? []),
    license: license ? { fingerprint: license.fingerprint, digest: license.sha1 } : undefined,
    noCompression: no_compression ?? false,
  };
}

/** A release that was made before, from its file in dev_releases or releases, with the archives the indices know. */
export async function readBuilt(release: ReleaseDirectory, file: string): Promise<BuiltRelease> {
  const text = await ifThere(readFile(file, "utf8"));
  if (text === undefined) throw BadReleaseFile({ file, problems: ["there is no such file"] });
  const document = parseYaml(text, file);
  const parsed = readReleaseManifest(document);
  if (!parsed.ok) throw BadReleaseFile({ file, problems: parsed.problems });
  const { jobPackages, license, noCompression } = readRest(document, file);
  const find = async (kind: ResourceKind, name: string, fingerprint: string, needs: readonly string[]) => {
    const known = await findBuild(release, kind, name, fingerprint);
    if (known.found === undefined) throw known.error;
    return { name, fingerprint, needs, ...known.found };
  };
  const jobs: BuiltResource[] = [];
  for (const [at, { name, fingerprint }] of parsed.release.jobs.entries())
    jobs.push(await find("job", name, fingerprint, jobPackages[at] ?? []));
  const packages: BuiltResource[] = [];
  for (const { name, fingerprint, dependencies } of parsed.release.packages)
    packages.push(await find("package", name, fingerprint, dependencies));
  const { name, version, commitHash, uncommittedChanges } = parsed.release;
  return {
    ...{ name, version, commit: commitHash, uncommittedChanges, jobs, packages },
    noCompression,
    license: license === undefined ? undefined : await find("license", "license", license.fingerprint, []),
  };
}
