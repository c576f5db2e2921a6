import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { copyFile, mkdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomic } from "@slipway/kernel/atomic-file";
import { exists } from "@slipway/kernel/files";
import type { Random } from "@slipway/kernel/random";
import type { Paths } from "../paths.ts";
import type { Blobs } from "../services.ts";
import type { BlobstoreSettings } from "../settings/effective.ts";
import { type Algorithm, formatDigest, strongestDigest } from "./digest.ts";
import { BadBlobId, BlobDamaged, BlobMissing } from "./errors.ts";
import { type ExternalTools, externalGet, externalPut } from "./external.ts";

export interface BlobTools extends ExternalTools {
  readonly paths: Paths;
  readonly random: Random;
  /** The blobstore in use now. */
  readonly settings: () => BlobstoreSettings | undefined;
}

/** What create-env's manifests say; the directory moved long ago. */
const OLD_CACHE = "/var/vcap/micro_bosh/data/cache";

/** Blobs of this VM: those uploaded to it, then those of its blobstore. */
export function localBlobs(tools: BlobTools): Blobs {
  const { paths } = tools;
  const uploaded = [paths.sensitiveBlobs, paths.blobs];
  return {
    fetch: async (id, digest, signal) => {
      checkId(id);
      const wanted = strongestDigest(digest);
      const path = (await firstWith(uploaded, id)) ?? (await fromStore(id, tools, signal));
      const actual = await hashFile(path, wanted.algorithm);
      if (actual !== wanted.hex) {
        const got = formatDigest({ algorithm: wanted.algorithm, hex: actual });
        throw BlobDamaged({ id, expected: formatDigest(wanted), actual: got });
      }
      return path;
    },
    store: async (path, signal) => {
      const blobId = tools.random.uuid();
      const digest = await hashFile(path, "sha1");
      const place = localPlace(tools);
      if (place !== undefined) await copyInto(place, blobId, path, tools.random);
      else await externalPut(externalSettings(tools), path, blobId, tools, signal);
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
      const path = await firstWith(uploaded, id);
      return path === undefined ? undefined : await readFile(path);
    },
  };
}

/** A leading dot is how half-written files are named. */
function checkId(id: string): void {
  const fits = /^[^./\0][^/\0]*$/.test(id) && Buffer.byteLength(id) <= 255;
  if (!fits) throw BadBlobId({});
}

async function firstWith(directories: readonly string[], id: string): Promise<string | undefined> {
  for (const directory of directories) {
    const path = join(directory, id);
    if (await exists(path)) return path;
  }
  return undefined;
}

/** Where the blobstore is a directory of this VM; undefined for one that a program talks to. */
function localPlace(tools: BlobTools): string | undefined {
  const settings = tools.settings();
  if (settings === undefined || settings.provider === "dummy") return tools.paths.blobs;
  if (settings.provider !== "local") return undefined;
  const path = settings.options?.blobstore_path;
  return typeof path !== "string" || path === "" || path === OLD_CACHE ? tools.paths.blobs : path;
}

function externalSettings(tools: BlobTools): BlobstoreSettings {
  return tools.settings() ?? { provider: "local" };
}

async function fromStore(id: string, tools: BlobTools, signal: AbortSignal): Promise<string> {
  const place = localPlace(tools);
  if (place !== undefined) {
    const path = await firstWith([place], id);
    if (path !== undefined) return path;
    const where = [tools.paths.sensitiveBlobs, tools.paths.blobs, place];
    throw BlobMissing({ id, where: [...new Set(where)].join(", ") });
  }
  // One file per blob, removed at the next start of the agent.
  const target = join(tools.paths.dataTmp, `fetched-${id}`);
  const part = `${target}.${tools.random.hex(6)}`;
  await mkdir(tools.paths.dataTmp, { recursive: true });
  try {
    await externalGet(externalSettings(tools), id, part, tools, signal);
    await rename(part, target);
  } finally {
    await rm(part, { force: true });
  }
  return target;
}

async function copyInto(directory: string, id: string, from: string, random: Random): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const part = join(directory, `.${id}.${random.hex(6)}.tmp`);
  try {
    await copyFile(from, part);
    await rename(part, join(directory, id));
  } finally {
    await rm(part, { force: true });
  }
}

async function hashFile(path: string, algorithm: Algorithm): Promise<string> {
  const hash = createHash(algorithm);
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) hash.update(chunk);
  return hash.digest("hex");
}
