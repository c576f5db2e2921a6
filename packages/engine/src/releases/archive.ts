import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { SlipwayError, systemCode, toError } from "@slipway/kernel/errors";
import { ifThere } from "@slipway/kernel/files";
import { archiveBytes, fileArchiveKind } from "@slipway/kernel/tar/file";
import { plainName, readTar } from "@slipway/kernel/tar/read";
import type { Job } from "@slipway/protocol/release/job-mf";
import { readJobManifest } from "@slipway/protocol/release/job-mf";
import {
  type Release,
  type ReleaseJob,
  type ReleasePackage,
  readReleaseManifest,
} from "@slipway/protocol/release/release-mf";
import type { Json } from "@slipway/protocol/schema/json";
import type { BlobId, Blobs } from "../blobs/blobs.ts";
import { parseYaml } from "../documents/yaml.ts";
import { fileDigest, readDigest } from "../stemcells/digest.ts";
import { NotEnoughDisk } from "../stemcells/errors.ts";
import { damageOf, extract } from "../stemcells/extract.ts";
import { bounded, type FreeSpace, freeSpace } from "../stemcells/free-space.ts";
import {
  BadJobArchive,
  BadRelease,
  JobManifestMissing,
  MonitMissing,
  PartDigestMismatch,
  ReleaseManifestMissing,
  StoredJobDamaged,
  TemplateMissing,
} from "./errors.ts";

/** A job with everything that its templates are rendered from. */
export interface UnpackedJob extends ReleaseJob {
  readonly job: Job;
  readonly monit: Uint8Array;
  /** Templates by their path in the job. */
  readonly templates: ReadonlyMap<string, Uint8Array>;
  /** Its `properties_schema.json`; undefined: it has none. */
  readonly propertiesSchema?: Json | undefined;
}

export interface UnpackedPackage extends ReleasePackage {
  /** Its archive; undefined where the release leaves it out because the receiver has it. */
  readonly file: string | undefined;
}

export interface OpenedRelease<J> {
  readonly release: Release;
  readonly jobs: readonly J[];
  readonly packages: readonly UnpackedPackage[];
}

export type UnpackedRelease = OpenedRelease<UnpackedJob>;

export interface UnpackReleaseOptions {
  readonly freeSpace?: FreeSpace;
  readonly signal?: AbortSignal;
}

/** Templates are read into memory; no job comes near it. */
const LARGEST_JOB = 64 * 2 ** 20;

/** Opens a release as `openRelease` does, with all jobs in memory. */
export const unpackRelease = (
  file: string,
  directory: string,
  options: UnpackReleaseOptions = {},
): Promise<UnpackedRelease> => openRelease(file, directory, (job) => job, options);

/**
 * Takes a release apart into an existing, empty directory and checks all of it: its manifest, every job's, and that each
 * archive is the one release.MF speaks of. The caller removes the directory. `keep` says what is kept of each job; `path`
 * is its archive.
 */
export async function openRelease<J>(
  file: string,
  directory: string,
  keep: (job: UnpackedJob, path: string) => J,
  options: UnpackReleaseOptions = {},
): Promise<OpenedRelease<J>> {
  const free = await (options.freeSpace ?? freeSpace)(directory);
  const tooBig = () => NotEnoughDisk({ what: "unpacking the release", free });
  const refused = (why: string) => BadRelease({ why });
  try {
    // A release with no_compression is not compressed either.
    const uncompressed = (await fileArchiveKind(file)) === "tar";
    const rules = { mostBytes: free, tooBig, refused, keepAll: true, uncompressed };
    await extract(file, directory, rules, options.signal);
  } catch (error) {
    options.signal?.throwIfAborted();
    if (error instanceof SlipwayError && error.number !== undefined) throw error;
    if (systemCode(error) === "ENOSPC") throw tooBig();
    throw BadRelease({ why: damageOf(error) }, { cause: error });
  }
  const release = await manifestIn(directory);
  const folder = release.compiled ? "compiled_packages" : "packages";
  const packages: UnpackedPackage[] = [];
  for (const one of release.packages) {
    options.signal?.throwIfAborted();
    const path = join(directory, folder, `${one.name}.tgz`);
    packages.push({
      ...one,
      file: (await verified(`package '${one.name}'`, path, one.digest)) ? path : undefined,
    });
  }
  const jobs: J[] = [];
  for (const one of release.jobs) {
    options.signal?.throwIfAborted();
    const path = join(directory, "jobs", `${one.name}.tgz`);
    if (!(await verified(`job '${one.name}'`, path, one.digest)))
      throw BadRelease({ why: `it holds no jobs/${one.name}.tgz, which its release.MF names` });
    jobs.push(keep(await unpackJob(one, path), path));
  }
  return { release, jobs, packages };
}

async function manifestIn(directory: string): Promise<Release> {
  const text = await ifThere(readFile(join(directory, "release.MF"), "utf8"));
  if (text === undefined) throw ReleaseManifestMissing({});
  const parsed = readReleaseManifest(
    yaml(text, "release.MF", (why, cause) => BadRelease({ why }, { cause })),
  );
  if (!parsed.ok) throw BadRelease({ why: parsed.problems.join("; ") });
  return parsed.release;
}

/** Returns true if the file exists. Throws if its digest is not the expected one. */
async function verified(part: string, path: string, digest: string): Promise<boolean> {
  if ((await ifThere(stat(path))) === undefined) return false;
  const expected = readDigest(digest, part);
  const actual = await fileDigest(path, expected.algorithm);
  if (actual !== expected.hex) throw PartDigestMismatch({ part, expected: expected.hex, actual });
  return true;
}

/** A job whose archive was kept since its upload; what became of the bytes meanwhile is noticed. */
export async function unpackStoredJob(
  entry: ReleaseJob & { readonly blobId: BlobId },
  blobs: Pick<Blobs, "withFile">,
): Promise<UnpackedJob> {
  const { name: job } = entry;
  const unpacked = await blobs.withFile(entry.blobId, async (path) => {
    const { algorithm, hex } = readDigest(entry.digest, `job '${job}'`);
    const actual = await fileDigest(path, algorithm);
    if (actual !== hex)
      throw StoredJobDamaged({ job, why: `its digest is ${algorithm}:${actual}, not ${algorithm}:${hex}` });
    return await unpackJob(entry, path);
  });
  if (unpacked === undefined) throw StoredJobDamaged({ job, why: "it is not there any more" });
  return unpacked;
}

/** Reads and checks the archive of one job. */
async function unpackJob(entry: ReleaseJob, path: string): Promise<UnpackedJob> {
  const { name } = entry;
  const files = await filesOf(name, path);
  const manifest = files.get("job.MF");
  if (manifest === undefined) throw JobManifestMissing({ job: name });
  const bad = (why: string, cause?: unknown) => BadJobArchive({ job: name, why }, { cause });
  const parsed = readJobManifest(yaml(Buffer.from(manifest).toString(), "job.MF", bad));
  if (!parsed.ok) throw bad(parsed.problems.join("; "));
  const { job } = parsed;
  if (job.name !== name) throw bad(`its job.MF is of job '${job.name}'`);
  const monit = files.get("monit");
  if (monit === undefined) throw MonitMissing({ job: name });
  const templates = new Map<string, Uint8Array>();
  for (const { source } of job.templates) {
    const content = files.get(`templates/${source}`);
    if (content === undefined) throw TemplateMissing({ job: name, template: source });
    templates.set(source, content);
  }
  const propertiesSchema = schemaIn(files.get("properties_schema.json"), bad);
  return { ...entry, job, monit, templates, propertiesSchema };
}

function schemaIn(
  file: Uint8Array | undefined,
  bad: (why: string, cause: unknown) => Error,
): Json | undefined {
  if (file === undefined) return undefined;
  try {
    return JSON.parse(Buffer.from(file).toString()) as Json;
  } catch (cause) {
    throw bad(`its properties_schema.json is not JSON: ${toError(cause).message}`, cause);
  }
}

async function filesOf(job: string, path: string): Promise<ReadonlyMap<string, Uint8Array>> {
  const refuse = (why: string) => BadJobArchive({ job, why });
  // Inner archives need not be compressed.
  const gzip = (await fileArchiveKind(path)) === "tar.gz";
  const through = [bounded(LARGEST_JOB, () => refuse("it unpacks to more than 64 MiB"))];
  const files = new Map<string, Uint8Array>();
  try {
    for await (const { entry, body } of readTar(archiveBytes(path, { gzip, through }), {
      refuse,
      end: "optional",
    })) {
      const name = plainName(entry.name, refuse);
      if (entry.type !== "file") continue;
      const pieces: Uint8Array[] = [];
      for await (const piece of body) pieces.push(Uint8Array.from(piece));
      files.set(name, Buffer.concat(pieces));
    }
  } catch (error) {
    if (error instanceof SlipwayError) throw error;
    throw BadJobArchive({ job, why: damageOf(error) }, { cause: error });
  }
  return files;
}

function yaml(text: string, what: string, bad: (why: string, cause: unknown) => Error): unknown {
  try {
    return parseYaml(text, what);
  } catch (cause) {
    throw bad(cause instanceof Error ? cause.message : String(cause), cause);
  }
}
