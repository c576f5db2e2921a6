import { mkdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomic } from "@slipway/kernel/atomic-file";
import { exists } from "@slipway/kernel/files";
import type { BlobProvider, BlobSource } from "../services.ts";
import type { BlobstoreSettings } from "../settings/effective.ts";
import { formatDigest, hashFile, strongestDigest } from "./digest.ts";
import { BadBlobId, BlobDamaged, BlobMissing } from "./errors.ts";
import type { ExternalTools } from "./external.ts";
import { providerFor } from "./provider.ts";
import { signedTransfer } from "./signed-url.ts";
import { download } from "./transfer.ts";

export interface BlobTools extends ExternalTools {
  /** The blobstore in use now. */
  readonly settings: () => BlobstoreSettings | undefined;
}

/** Blobs of this VM: those uploaded to it, then those of its blobstore. */
export function localBlobs(tools: BlobTools): BlobProvider {
  const { paths } = tools;
  const uploaded = [paths.sensitiveBlobs, paths.blobs];
  return {
    fetch: async (id, digest, signal) => {
      const found = await fromHere(id, digest, tools);
      if (found !== undefined) return found;
      // One file per blob, removed at the next start of the agent.
      const target = join(paths.dataTmp, `fetched-${id}`);
      const part = await fetched({ blobId: id, digest }, tools, signal);
      await rename(part, target);
      return target;
    },
    use: async (source, signal, work) => {
      const { signedUrl, blobId, digest } = source;
      const found = signedUrl ? undefined : await fromHere(blobId, digest, tools);
      if (found !== undefined) return await work(found);
      const path = await fetched(source, tools, signal);
      try {
        return await work(path);
      } finally {
        await rm(path, { force: true });
      }
    },
    store: async (path, signal) => {
      const blobId = tools.random.uuid();
      const digest = await hashFile(path, "sha1");
      await (await providerFor(tools.settings(), tools)).put(path, blobId, signal);
      return { blobId, digest };
    },
    write: async (kind, id, content) => {
      checkId(id);
      const directory = kind === "sensitive" ? paths.sensitiveBlobs : paths.blobs;
      await mkdir(directory, { recursive: true, mode: 0o700 });
      await writeFileAtomic(join(directory, id), content, kind === "sensitive" ? 0o600 : 0o640);
    },
    read: async (id) => {
      checkId(id);
      for (const directory of uploaded)
        if (await exists(join(directory, id))) return await readFile(join(directory, id));
      return undefined;
    },
    remove: async (id) => {
      checkId(id);
      for (const directory of uploaded) await rm(join(directory, id), { force: true });
    },
  };
}

/** A leading dot is how half-written files are named. */
function checkId(id: string): void {
  const fits = /^[^./\0][^/\0]*$/.test(id) && Buffer.byteLength(id) <= 255;
  if (!fits) throw BadBlobId({});
}

/** The first that is what the digest says, in this VM. One that is damaged is passed over: another place may have it. */
async function fromHere(id: string, digest: string, tools: BlobTools): Promise<string | undefined> {
  checkId(id);
  const { sensitiveBlobs, blobs } = tools.paths;
  const wanted = strongestDigest(digest);
  const { directory } = await providerFor(tools.settings(), tools);
  const places = [...new Set([sensitiveBlobs, blobs, ...(directory === undefined ? [] : [directory])])];
  let damaged: string | undefined;
  for (const place of places) {
    const path = join(place, id);
    if (!(await exists(path))) continue;
    const hex = await hashFile(path, wanted.algorithm);
    if (hex === wanted.hex) return path;
    damaged ??= formatDigest({ ...wanted, hex });
  }
  if (damaged !== undefined && directory !== undefined)
    throw BlobDamaged({ id, expected: formatDigest(wanted), actual: damaged });
  if (directory !== undefined) throw BlobMissing({ id, where: places.join(", ") });
  return undefined;
}

/** A verified copy of its own, or none. */
async function fetched(source: BlobSource, tools: BlobTools, signal: AbortSignal): Promise<string> {
  const { paths, random, settings } = tools;
  const { signedUrl, headers = {}, blobId, digest } = source;
  await mkdir(paths.dataTmp, { recursive: true });
  const to = join(paths.dataTmp, `fetched-${random.hex(8)}`);
  if (signedUrl) {
    await download(signedTransfer("a signed URL", signedUrl, headers), digest, to, tools, signal);
    return to;
  }
  checkId(blobId);
  try {
    await (await providerFor(settings(), tools)).get(blobId, digest, to, signal);
    return to;
  } catch (error) {
    await rm(to, { force: true });
    throw error;
  }
}
