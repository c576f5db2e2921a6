import { readdir, rm } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { basename, join } from "node:path";
import { blobId } from "@slipway/engine/blobs/blob-id";
import type { BlobId } from "@slipway/engine/blobs/blobs";
import { directoryBlobs, type FileBlobs } from "@slipway/engine/blobs/directory-blobs";
import { NotEnoughDisk } from "@slipway/engine/stemcells/errors";
import { freeSpace } from "@slipway/engine/stemcells/free-space";
import { SlipwayError, systemCode } from "@slipway/kernel/errors";
import type { Random } from "@slipway/kernel/random";
import type { Db } from "../store/schema.ts";
import { UploadUnusable } from "./refusals.ts";
import type { Services } from "./services.ts";

/** The uploads of a Director, kept until their task is done. */
const uploadsIn = (dir: string, random: Random): FileBlobs => directoryBlobs({ dir, random });

/** Streams an archive of any size into a new blob; resolves to its file. Unless all of it came nothing is left. */
export async function receiveUpload(
  stream: IncomingMessage,
  { uploadsDir, random, freeSpace: free = freeSpace }: Pick<Services, "uploadsDir" | "random" | "freeSpace">,
  kind: "stemcell",
): Promise<string> {
  const room = await free(uploadsDir);
  const tooLarge = () => NotEnoughDisk({ what: `the uploaded ${kind}`, free: room });
  const fits = (size: number) => {
    if (size > room) throw tooLarge();
  };
  fits(Number(stream.headers["content-length"] ?? 0));
  const uploads = uploadsIn(uploadsDir, random);
  const id = blobId(`${kind}-${random.uuid()}.tgz`);
  const stored = await uploads
    .put(stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>, { id, before: fits })
    .catch((error: unknown) => {
      if (error instanceof SlipwayError && error.number !== undefined) throw error;
      if (systemCode(error) === "ENOSPC") throw tooLarge();
      throw UploadUnusable({ kind, why: "ended too early" }, { cause: error });
    });
  if (stored.size > 0) return uploads.pathOf(id);
  await uploads.remove(id);
  // The CLI sends an upload that got a 401 once more, with nothing in it.
  throw UploadUnusable({ kind, why: "is empty" });
}

/**
 * Removes archives that no task will read, left by a crash between upload and task, and what tasks had unpacked. To be
 * called at the start, before any task runs.
 */
export async function sweepUploads(db: Db, uploadsDir: string, random: Random): Promise<readonly BlobId[]> {
  const uploads = uploadsIn(uploadsDir, random);
  const rows = await db
    .selectFrom("tasks")
    .select("params_sealed")
    .where("type", "=", "update_stemcell")
    .where("state", "in", ["queued", "processing", "cancelling"])
    .execute();
  const needed = new Set(rows.map(({ params_sealed: params }) => basename(String(params.path ?? ""))));
  const stale = (await uploads.list()).filter(
    (id) => /^stemcell-[0-9a-f-]{36}\.tgz$/.test(id) && !needed.has(id),
  );
  for (const id of stale) await uploads.remove(id);
  await uploads.sweep();
  const unpacked = (await readdir(uploadsDir)).filter((name) => /^unpacked-\d+$/.test(name));
  for (const name of unpacked) await rm(join(uploadsDir, name), { recursive: true, force: true });
  return stale;
}
