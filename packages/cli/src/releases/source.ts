import { lstat, readdir, readFile, readlink, stat } from "node:fs/promises";
import { basename, join, posix } from "node:path";
import { parseYaml } from "@slipway/engine/documents/yaml";
import { compareBytes, fingerprint, type SourceFile } from "@slipway/engine/releases/source/fingerprint";
import { messageTrail } from "@slipway/kernel/errors";
import { ifThere } from "@slipway/kernel/files";
import { readJobManifest } from "@slipway/protocol/release/job-mf";
import type { ResourceKind } from "./build-index.ts";
import { BadReleaseSource, Unbuildable } from "./errors.ts";
import { packageFiles } from "./package-files.ts";
import { readPackageLock, readPackageSpec } from "./package-spec.ts";

/** A job, a package or the license as the release's source has it. */
export interface SourceResource {
  readonly kind: ResourceKind;
  readonly name: string;
  readonly fingerprint: string;
  /** Names of packages: of a job those it needs to run, of a package those it is compiled with. */
  readonly needs: readonly string[];
  /** Input of its archive; undefined if it was vendored and only its archive is known. */
  readonly source: ResourceSource | undefined;
}

export interface ResourceSource {
  readonly files: readonly SourceFile[];
  readonly gzip: boolean;
  /** A script among the files that runs before the archive is made, and is no part of it. */
  readonly prepare: SourceFile | undefined;
}

export interface ReleaseSource {
  readonly jobs: readonly SourceResource[];
  readonly packages: readonly SourceResource[];
  readonly license: SourceResource | undefined;
}

/** Reads and checks everything a release is built of; reports all mistakes at once. */
export async function readSource(dir: string, blobs: ReadonlySet<string>): Promise<ReleaseSource> {
  const problems: string[] = [];
  const packages = await each(dir, "packages", problems, (path) => readPackage(dir, path, blobs));
  const jobs = await each(dir, "jobs", problems, readJob);
  problems.push(...twice("package", packages), ...missing("package", packages, packages));
  problems.push(...missing("job", jobs, packages));
  const license = await readLicense(dir);
  if (problems.length > 0) throw BadReleaseSource({ dir, problems });
  return { jobs, packages, license };
}

async function each(
  dir: string,
  folder: string,
  problems: string[],
  read: (path: string) => Promise<SourceResource>,
): Promise<readonly SourceResource[]> {
  const names = (await ifThere(readdir(join(dir, folder)))) ?? [];
  const found: SourceResource[] = [];
  for (const name of names.sort(compareBytes)) {
    const path = join(dir, folder, name);
    if ((await ifThere(stat(path)))?.isDirectory() !== true) continue;
    try {
      found.push(await read(path));
    } catch (error) {
      problems.push(`${folder}/${name}: ${messageTrail(error)}`);
    }
  }
  return found.sort((a, b) => compareBytes(a.name, b.name));
}

async function readJob(path: string): Promise<SourceResource> {
  const text = await ifThere(readFile(join(path, "spec"), "utf8"));
  if (text === undefined) throw Unbuildable({ why: "it has no spec file" });
  const parsed = readJobManifest(parseYaml(text, "spec"), "spec");
  if (!parsed.ok) throw Unbuildable({ why: parsed.problems.join("; ") });
  const { job } = parsed;
  if (job.name !== basename(path))
    throw Unbuildable({
      why: `Job directory '${basename(path)}' does not match job name '${job.name}' in spec`,
    });
  const files = [await followed(path, "spec", "job.MF")];
  for (const name of ["monit", "properties_schema.json"])
    if ((await ifThere(stat(join(path, name)))) !== undefined) files.push(await followed(path, name));
  for (const { source } of job.templates)
    files.push(await followed(path, posix.join("templates", posix.normalize(source))));
  return {
    kind: "job",
    name: job.name,
    fingerprint: await fingerprint(files),
    needs: job.packages,
    source: { files, gzip: true, prepare: undefined },
  };
}

/** A file of a job. Behind a link it counts as executable, because links are. */
async function followed(dir: string, path: string, name = path): Promise<SourceFile> {
  const full = join(dir, path);
  const [link, file] = [await ifThere(lstat(full)), await ifThere(stat(full))];
  if (link === undefined || file === undefined)
    throw Unbuildable({ why: `it has no ${path}, which its spec names` });
  if (!file.isFile()) throw Unbuildable({ why: `${path} is not a file` });
  return { name, content: { type: "file", path: full, executable: (link.mode & 0o111) !== 0 } };
}

async function readPackage(dir: string, path: string, blobs: ReadonlySet<string>): Promise<SourceResource> {
  const lock = await readPackageLock(path);
  if (lock !== undefined) return { kind: "package", ...lock, source: undefined };
  const spec = await readPackageSpec(path);
  const hooks: SourceFile[] = [];
  for (const name of ["packaging", "pre_packaging"]) {
    const found = await ifThere(lstat(join(path, name)));
    if (found !== undefined && !found.isDirectory()) hooks.push(await plain(path, name));
    else if (name === "packaging")
      throw Unbuildable({ why: `Expected to find '${join(path, name)}' for package '${spec.name}'` });
  }
  const files = [...hooks, ...(await packageFiles(dir, spec, blobs))];
  return {
    kind: "package",
    name: spec.name,
    fingerprint: await fingerprint(files, spec.dependencies),
    needs: spec.dependencies,
    source: { files, gzip: !spec.noCompression, prepare: hooks.find(({ name }) => name === "pre_packaging") },
  };
}

async function readLicense(dir: string): Promise<SourceResource | undefined> {
  const names = (await readdir(dir, { withFileTypes: true }))
    .filter((entry) => !entry.isDirectory() && /^(?:LICENSE|NOTICE)/.test(entry.name))
    .map(({ name }) => name);
  if (names.length === 0) return undefined;
  const files: SourceFile[] = [];
  for (const name of names.sort(compareBytes)) files.push(await plain(dir, name));
  return {
    kind: "license",
    name: "license",
    fingerprint: await fingerprint(files),
    needs: [],
    source: { files, gzip: true, prepare: undefined },
  };
}

/** A file whose mode does not count; a link stays one. */
async function plain(dir: string, name: string): Promise<SourceFile> {
  const path = join(dir, name);
  const found = await lstat(path);
  if (found.isSymbolicLink())
    return { name, modeless: true, content: { type: "symlink", to: await readlink(path) } };
  return { name, modeless: true, content: { type: "file", path, executable: (found.mode & 0o111) !== 0 } };
}

function twice(kind: string, resources: readonly SourceResource[]): readonly string[] {
  const names = resources.map(({ name }) => name);
  return [...new Set(names.filter((name, at) => names.indexOf(name) !== at))].map(
    (name) => `two directories have a ${kind} '${name}'`,
  );
}

const missing = (kind: string, resources: readonly SourceResource[], packages: readonly SourceResource[]) =>
  resources.flatMap(({ name, needs }) =>
    needs
      .filter((one) => !packages.some((other) => other.name === one))
      .map((one) => `Expected to find package '${one}' since it's a dependency of ${kind} '${name}'`),
  );
