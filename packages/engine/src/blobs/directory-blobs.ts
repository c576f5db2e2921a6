import { createHash } from "node:crypto";
import { type FileHandle, link, open, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { syncDirectory } from "@slipway/kernel/atomic-file";
import { systemCode } from "@slipway/kernel/errors";
import { ifThere } from "@slipway/kernel/files";
import type { Random } from "@slipway/kernel/random";
import { blobId, isBlobId } from "./blob-id.ts";
import type { BlobId, Blobs } from "./blobs.ts";
import { BlobExists, NoSpaceForBlobs } from "./errors.ts";

const HALF = ".half";

/** A directory, made by the caller and private to it; other things in it are left alone. */
export function directoryBlobs(options: { readonly dir: string; readonly random: Random }): Blobs {
  const { dir, random } = options;
  const pathOf = (id: BlobId) => join(dir, blobId(id));
  const halfOf = (id: BlobId) => join(dir, `.${blobId(id)}${HALF}`);

  return {
    put: async (content, { id = blobId(random.uuid()), before } = {}) => {
      const half = halfOf(id);
      const file = await open(half, "wx", 0o600).catch((cause: unknown) => {
        throw systemCode(cause) === "EEXIST" ? BlobExists({ id }, { cause }) : cause;
      });
      try {
        const written = await writeAll(file, content, before).finally(() => file.close());
        // Unlike a rename it does not replace one that is there.
        await link(half, pathOf(id)).catch((cause: unknown) => {
          throw systemCode(cause) === "EEXIST" ? BlobExists({ id }, { cause }) : cause;
        });
        return { id, ...written };
      } catch (cause) {
        throw systemCode(cause) === "ENOSPC" ? NoSpaceForBlobs({ dir }, { cause }) : cause;
      } finally {
        await rm(half, { force: true });
        await syncDirectory(dir);
      }
    },
    get: async (id) => {
      const file = await ifThere(open(pathOf(id)));
      if (file === undefined) return undefined;
      const found = await file.stat();
      if (found.isFile()) return { size: found.size, content: file.createReadStream() };
      await file.close();
      return undefined;
    },
    // The blob is a file already: nothing is copied.
    withFile: async (id, work) => ((await found(id)) === undefined ? undefined : await work(pathOf(id))),
    stat: async (id) => {
      const file = await found(id);
      return file && { size: file.size, storedAt: file.mtimeMs };
    },
    has: async (id) => (await listed()).includes(blobId(id)),
    remove: async (id) => {
      await rm(pathOf(id), { force: true });
      await syncDirectory(dir);
    },
    list: () => listed(),
    signedUrl: () => Promise.resolve(undefined),
    sweep: async () => {
      for (const name of await readdir(dir))
        if (name.startsWith(".") && name.endsWith(HALF)) await rm(join(dir, name), { force: true });
    },
  };

  async function found(id: BlobId) {
    const file = await ifThere(stat(pathOf(id)));
    return file?.isFile() === true ? file : undefined;
  }

  async function listed(): Promise<readonly BlobId[]> {
    const entries = await readdir(dir, { withFileTypes: true });
    return entries.flatMap((entry) => (entry.isFile() && isBlobId(entry.name) ? [entry.name] : [])).sort();
  }
}

async function writeAll(
  file: FileHandle,
  content: AsyncIterable<Uint8Array>,
  before: ((size: number) => void) | undefined,
): Promise<{ readonly size: number; readonly digest: string }> {
  const hash = createHash("sha256");
  let size = 0;
  for await (const piece of content) {
    size += piece.length;
    before?.(size);
    hash.update(piece);
    await file.appendFile(piece);
  }
  await file.sync();
  return { size, digest: `sha256:${hash.digest("hex")}` };
}
