import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import type { Random } from "@slipway/kernel/random";
import { blobId } from "../blob-id.ts";
import type { BlobId, Blobs } from "../blobs.ts";
import { BlobExists } from "../errors.ts";
import { temporaryFiles } from "../temporary-files.ts";

/** Blobs in memory: a store without files, as those behind a network are. `dir` gets the files of `withFile`. */
export function memoryBlobs(options: { readonly dir: string; readonly random: Random }): Blobs {
  const stored = new Map<BlobId, { readonly content: Buffer; readonly storedAt: number }>();
  const get: Blobs["get"] = async (id) => {
    const blob = stored.get(blobId(id));
    return blob && { size: blob.content.length, content: Readable.from([blob.content]) };
  };
  return {
    ...temporaryFiles(get, options),
    get,
    put: async (content, { id = blobId(options.random.uuid()), before } = {}) => {
      if (stored.has(blobId(id))) throw BlobExists({ id });
      const pieces: Uint8Array[] = [];
      let size = 0;
      for await (const piece of content) {
        size += piece.length;
        before?.(size);
        pieces.push(piece);
      }
      if (stored.has(id)) throw BlobExists({ id });
      const whole = Buffer.concat(pieces);
      stored.set(id, { content: whole, storedAt: Date.now() });
      return { id, size, digest: `sha256:${createHash("sha256").update(whole).digest("hex")}` };
    },
    has: async (id) => stored.has(blobId(id)),
    stat: async (id) => {
      const blob = stored.get(blobId(id));
      return blob && { size: blob.content.length, storedAt: blob.storedAt };
    },
    remove: async (id) => {
      stored.delete(blobId(id));
    },
    list: async () => [...stored.keys()].sort(),
    signedUrl: async () => undefined,
  };
}
