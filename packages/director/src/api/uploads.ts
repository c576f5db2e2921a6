import { readdir, rm } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { basename, join } from "node:path";
import { blobId } from "@slipway/engine/blobs/blob-id";
import type { BlobId, Blobs } from "@slipway/engine/blobs/blobs";
import { directoryBlobs } from "@slipway/engine/blobs/directory-blobs";
import { NoSpaceForBlobs } from "@slipway/engine/blobs/errors";
import { NotEnoughDisk } from "@slipway/engine/stemcells/errors";
import { SlipwayError } from "@slipway/kernel/errors";
import type { Random } from "@slipway/kernel/random";
import type { Db } from "../store/schema.ts";
import { UploadUnusable } from "./refusals.ts";
import type { Services } from "./services.ts";
import type { UploadSpace } from "./upload-space.ts";

/** Uploads of a Director, kept until their task is done: files of this machine, whose paths are given to the tasks. */
const uploadsIn = (dir: string, random: Random): Blobs => directoryBlobs({ dir, random });

/**
 * Streams an archive of any size into a new blob, and hands its file to `work`, which gives it to a task. Unless all of it
 * came and a task has it, nothing is left.
 */
export async function receiveUpload<T>(
  stream: IncomingMessage,
  { uploadsDir, uploads: space, random }: Pick<Services, "uploadsDir" | "uploads" | "random">,
  kind: "stemcell" | "release",
  work: (path: string) => Promise<T>,
): Promise<T> {
  const blobs = uploadsIn(uploadsDir, random);
  const id = blobId(`${kind}-${random.uuid()}.tgz`);
  const tooLarge = (room: number) => NotEnoughDisk({ what: `the uploaded ${kind}`, free: room });
  const announced = Number(stream.headers["content-length"] ?? 0);
  const receive = () =>
    space.claim(uploadsDir, announced, tooLarge, ({ take }) =>
      blobs.put(metered(stream, take), { id }).catch((error: unknown) => {
        if (error instanceof SlipwayError && error.number !== undefined) throw error;
        if (NoSpaceForBlobs.is(error)) throw tooLarge(0);
        throw UploadUnusable({ kind, why: "ended too early" }, { cause: error });
      }),
    );
  return await space.arriving(id, async () => {
    const { size } = await receive();
    try {
      // The CLI sends an upload that got a 401 once more, with nothing in it.
      if (size === 0) throw UploadUnusable({ kind, why: "is empty" });
      return await work(join(uploadsDir, id));
    } catch (error) {
      await blobs.remove(id);
      throw error;
    }
  });
}

async function* metered(
  stream: IncomingMessage,
  take: (bytes: number) => Promise<void>,
): AsyncGenerator<Uint8Array> {
  const pieces = stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>;
  for await (const piece of pieces) {
    await take(piece.length);
    yield piece;
  }
}

/**
 * Removes archives that no task will read, and what tasks that are over had unpacked. `space` has the uploads that come in
 * meanwhile. Without it no uploads may be under way, and what a crash has left half is removed, too.
 */
export async function sweepUploads(
  db: Db,
  uploadsDir: string,
  random: Random,
  space?: UploadSpace,
): Promise<readonly BlobId[]> {
  const uploads = uploadsIn(uploadsDir, random);
  // Before it is asked who needs them: one that comes later is not among them.
  const there = (await uploads.list()).filter(
    (id) => /^(?:stemcell|release)-[0-9a-f-]{36}\.tgz$/.test(id) && space?.isArriving(id) !== true,
  );
  const left = (await readdir(uploadsDir)).filter((name) => /^unpacked-\d+$/.test(name));
  if (space !== undefined && there.length + left.length === 0) return [];
  const rows = await db
    .selectFrom("tasks")
    .select(["id", "params_sealed"])
    .where("type", "in", ["update_stemcell", "update_release"])
    .where("state", "in", ["queued", "processing", "cancelling"])
    .execute();
  const needed = new Set(rows.map(({ params_sealed: params }) => basename(String(params.path ?? ""))));
  const stale = there.filter((id) => !needed.has(id));
  for (const id of stale) await uploads.remove(id);
  if (space === undefined) await uploads.sweep();
  const running = new Set(space === undefined ? [] : rows.map(({ id }) => `unpacked-${id}`));
  const unpacked = left.filter((name) => !running.has(name));
  for (const name of unpacked) await rm(join(uploadsDir, name), { recursive: true, force: true });
  return stale;
}
