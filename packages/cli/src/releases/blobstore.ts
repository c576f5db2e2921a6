import { copyFile, mkdir, rm } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { messageTrail } from "@slipway/kernel/errors";
import { exists } from "@slipway/kernel/files";
import type { Random } from "@slipway/kernel/random";
import type { ReleaseConfig } from "./config.ts";
import { BlobstoreUnusable } from "./errors.ts";

/** Store of a release's blobs and of the archives of its final versions. */
export interface ReleaseBlobstore {
  /** Resolves to its new id. */
  put(file: string): Promise<string>;
  /** The path of a file with its content, to be copied; not checked against anything. */
  get(id: string): Promise<string>;
}

/** Made when it is first needed: most commands need none. */
export function blobstoreOf(dir: string, config: ReleaseConfig, random: Random): ReleaseBlobstore {
  const place = () => {
    const { provider, options } = config;
    if (provider === undefined) throw BlobstoreUnusable({ why: "Expected non-empty 'blobstore.provider'" });
    if (provider !== "local") throw BlobstoreUnusable({ why: `slipway has no provider '${provider}'` });
    const path = options.blobstore_path;
    if (typeof path !== "string" || path === "") throw BlobstoreUnusable({ why: "missing blobstore_path" });
    return isAbsolute(path) ? path : join(dir, path);
  };
  return {
    put: async (file) => {
      const id = random.uuid();
      const to = join(place(), id);
      try {
        await mkdir(place(), { recursive: true, mode: 0o770 });
        await copyFile(file, to);
      } catch (cause) {
        await rm(to, { force: true });
        throw BlobstoreUnusable({ why: messageTrail(cause) }, { cause });
      }
      return id;
    },
    get: async (id) => {
      if (!/^[\w-][\w.-]*$/.test(id)) throw BlobstoreUnusable({ why: `'${id}' is no id of a blob` });
      const path = join(place(), id);
      if (!(await exists(path))) throw BlobstoreUnusable({ why: `it has no blob '${id}'` });
      return path;
    },
  };
}
