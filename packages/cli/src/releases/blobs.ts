import { mkdir, rename, rm } from "node:fs/promises";
import { dirname, join, posix } from "node:path";
import { compareBytes } from "@slipway/engine/releases/source/fingerprint";
import { verifyDigest } from "@slipway/engine/stemcells/digest";
import { writeFileAtomic } from "@slipway/kernel/atomic-file";
import { messageTrail } from "@slipway/kernel/errors";
import { exists } from "@slipway/kernel/files";
import { mapOf, open } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import type { ReleaseBlobstore } from "./blobstore.ts";
import { BadReleaseFile, BlobDamaged } from "./errors.ts";
import { readYamlFile, yamlFile } from "./read-yaml.ts";

/** A large file that is kept beside git. */
export interface Blob {
  /** Below `blobs/`. */
  readonly path: string;
  readonly size: number;
  readonly digest: string;
  /** Undefined until it is uploaded. */
  readonly blobstoreId: string | undefined;
}

const blobsFile = mapOf(
  open({ size: v.number(), sha: v.string(), object_id: v.optional(v.nullable(v.string())) }),
);

const indexFile = (dir: string): string => join(dir, "config", "blobs.yml");
export const blobFile = (dir: string, path: string): string => join(dir, "blobs", path);

/** `config/blobs.yml`, in the order of their paths. */
export async function readBlobs(dir: string): Promise<readonly Blob[]> {
  const file = indexFile(dir);
  const found = (await readYamlFile(file, blobsFile)) ?? {};
  const bad = Object.keys(found).filter((path) => !isBelow(path));
  if (bad.length > 0)
    throw BadReleaseFile({ file, problems: bad.map((path) => `'${path}' is not a path below blobs/`) });
  return Object.entries(found)
    .map(([path, { size, sha, object_id }]) => ({
      path,
      size,
      digest: sha,
      blobstoreId: object_id ?? undefined,
    }))
    .sort((a, b) => compareBytes(a.path, b.path));
}

export const isBelow = (path: string): boolean =>
  path !== "" &&
  !path.startsWith("/") &&
  !path.includes("\0") &&
  posix.normalize(path) === path &&
  !/^\.\.?(?:\/|$)/.test(path);

export async function writeBlobs(dir: string, blobs: readonly Blob[]): Promise<void> {
  const sorted = [...blobs].sort((a, b) => compareBytes(a.path, b.path));
  const map = new Map(
    sorted.map(({ path, size, digest, blobstoreId }) => [
      path,
      { size, ...(blobstoreId !== undefined && { object_id: blobstoreId }), sha: digest },
    ]),
  );
  await mkdir(join(dir, "config"), { recursive: true });
  await writeFileAtomic(indexFile(dir), map.size === 0 ? "--- {}\n" : yamlFile(map), 0o644);
}

export interface SyncReport {
  started?(blob: Blob): void;
  finished?(blob: Blob): void;
}

/** Brings every blob that was uploaded into `blobs/`. One that is there and right stays. */
export async function syncBlobs(
  dir: string,
  store: ReleaseBlobstore,
  report: SyncReport = {},
): Promise<readonly Blob[]> {
  const blobs = await readBlobs(dir);
  for (const blob of blobs) {
    if (blob.blobstoreId === undefined || (await isRight(dir, blob))) continue;
    report.started?.(blob);
    await fetchBlob(blobFile(dir, blob.path), blob, (to) => store.fetch(blob.blobstoreId ?? "", to));
    report.finished?.(blob);
  }
  return blobs;
}

async function isRight(dir: string, { path, digest }: Blob): Promise<boolean> {
  const file = blobFile(dir, path);
  if (!(await exists(file))) return false;
  try {
    await verifyDigest(file, digest, `blob '${path}'`);
    return true;
  } catch {
    return false;
  }
}

async function fetchBlob(
  to: string,
  { path, digest }: Blob,
  write: (to: string) => Promise<void>,
): Promise<void> {
  const partial = `${to}.partial`;
  try {
    await mkdir(dirname(to), { recursive: true });
    await write(partial);
    await verifyDigest(partial, digest, `blob '${path}'`);
    await rename(partial, to);
  } catch (cause) {
    await rm(partial, { force: true });
    throw BlobDamaged({ path, why: messageTrail(cause) }, { cause });
  }
}
