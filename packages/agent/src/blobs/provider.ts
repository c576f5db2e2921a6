import { copyFile, mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { retry } from "@slipway/kernel/backoff";
import type { BlobstoreSettings } from "../settings/effective.ts";
import { davTransfer } from "./dav.ts";
import { formatDigest, hashFile, strongestDigest } from "./digest.ts";
import { BlobDamaged, BlobMissing, UploadFailed } from "./errors.ts";
import { type ExternalTools, externalGet, externalPut, hasProgram } from "./external.ts";
import { s3Transfers } from "./s3.ts";
import { download, type Transfer, upload } from "./transfer.ts";

/** The blobstore that the settings name. */
export interface Provider {
  /** Directory of the blobs in this VM. Undefined for a remote blobstore. */
  readonly directory: string | undefined;
  /** Fetches a blob into a file that is not there, and compares its digest. */
  get(id: string, digest: string, to: string, signal: AbortSignal): Promise<void>;
  put(from: string, id: string, signal: AbortSignal): Promise<void>;
}

/** Blobstore path in create-env's manifests. The directory moved long ago. */
const OLD_CACHE = "/var/vcap/micro_bosh/data/cache";
const RETRIES = { tries: 3, firstDelayMs: 1_000, longestDelayMs: 4_000 };

export async function providerFor(
  settings: BlobstoreSettings | undefined,
  tools: ExternalTools,
): Promise<Provider> {
  if (settings === undefined || settings.provider === "dummy") return directory(tools.paths.blobs, tools);
  const { provider, options } = settings;
  switch (provider) {
    case "local": {
      const path = options?.blobstore_path;
      const usable = typeof path === "string" && path !== "" && path !== OLD_CACHE;
      return directory(usable ? path : tools.paths.blobs, tools);
    }
    case "dav":
      return overHttp(
        (id) => ({ get: () => davTransfer(options, id), put: async () => davTransfer(options, id) }),
        tools,
      );
    case "s3":
      // A stemcell's own program knows every way to come by credentials.
      return (await hasProgram(provider, tools.paths))
        ? external(settings, tools)
        : overHttp((id) => s3Transfers(options, id, tools.clock), tools);
    default:
      return external(settings, tools);
  }
}

function external(settings: BlobstoreSettings, tools: ExternalTools): Provider {
  return {
    directory: undefined,
    get: async (id, digest, to, signal) => {
      await externalGet(settings, id, to, tools, signal);
      const wanted = strongestDigest(digest);
      const hex = await hashFile(to, wanted.algorithm);
      if (hex === wanted.hex) return;
      throw BlobDamaged({ id, expected: formatDigest(wanted), actual: formatDigest({ ...wanted, hex }) });
    },
    put: (from, id, signal) => externalPut(settings, from, id, tools, signal),
  };
}

interface Transfers {
  get(): Transfer;
  put(path: string): Promise<Transfer>;
}

function overHttp(transfersOf: (id: string) => Transfers, tools: ExternalTools): Provider {
  return {
    directory: undefined,
    get: (id, digest, to, signal) => download(transfersOf(id).get(), digest, to, tools, signal),
    put: async (from, id, signal) => {
      const transfer = await transfersOf(id).put(from);
      const attempt = () => upload(from, transfer, tools, signal);
      await retry(attempt, (error) => UploadFailed.is(error), RETRIES, { ...tools, signal });
    },
  };
}

function directory(path: string, { random }: ExternalTools): Provider {
  return {
    directory: path,
    // What is in it was looked for where it lies.
    get: async (id) => {
      throw BlobMissing({ id, where: path });
    },
    put: async (from, id) => {
      await mkdir(path, { recursive: true, mode: 0o700 });
      const part = join(path, `.${id}.${random.hex(6)}.tmp`);
      try {
        await copyFile(from, part);
        await rename(part, join(path, id));
      } finally {
        await rm(part, { force: true });
      }
    },
  };
}
