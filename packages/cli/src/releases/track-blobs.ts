import { copyFile, mkdir, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { fileDigest } from "@slipway/engine/stemcells/digest";
import { exists } from "@slipway/kernel/files";
import { FileUnreadable } from "../interpolate/errors.ts";
import { type Blob, blobFile, isBelow, readBlobs, writeBlobs } from "./blobs.ts";
import type { ReleaseBlobstore } from "./blobstore.ts";
import { BadBlobPath, BlobDamaged } from "./errors.ts";

/** Copies a file into `blobs/`, instead of what was there, and notes it in `config/blobs.yml`. */
export async function addBlob(dir: string, file: string, path: string): Promise<void> {
  if (!isBelow(path)) throw BadBlobPath({ path });
  const before = await readBlobs(dir);
  const to = blobFile(dir, path);
  const partial = `${to}.partial`;
  await mkdir(dirname(to), { recursive: true });
  try {
    await copyFile(file, partial);
    const digest = `sha256:${await fileDigest(partial, "sha256")}`;
    const { size } = await stat(partial);
    await rename(partial, to);
    const others = before.filter((blob) => blob.path !== path);
    await writeBlobs(dir, [...others, { path, size, digest, blobstoreId: undefined }]);
  } catch (cause) {
    await rm(partial, { force: true });
    throw FileUnreadable({ what: "blob", path: file }, { cause });
  }
}

export async function removeBlob(dir: string, path: string): Promise<void> {
  if (!isBelow(path)) throw BadBlobPath({ path });
  const before = await readBlobs(dir);
  await writeBlobs(
    dir,
    before.filter((blob) => blob.path !== path),
  );
  await rm(blobFile(dir, path), { recursive: true, force: true });
}

/** Every blob that is only here; each is noted as soon as the blobstore has it. */
export async function uploadBlobs(
  dir: string,
  store: ReleaseBlobstore,
  uploading: (blob: Blob, work: () => Promise<string>) => Promise<string>,
): Promise<void> {
  let blobs = await readBlobs(dir);
  for (const blob of blobs) {
    if (blob.blobstoreId !== undefined) continue;
    const file = blobFile(dir, blob.path);
    if (!(await exists(file))) throw BlobDamaged({ path: blob.path, why: `${file} is not there` });
    const blobstoreId = await uploading(blob, () => store.put(file));
    blobs = blobs.map((one) => (one === blob ? { ...blob, blobstoreId } : one));
    await writeBlobs(dir, blobs);
  }
}
