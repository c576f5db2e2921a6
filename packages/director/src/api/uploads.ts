import { open, readdir, rm, unlink } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { basename, join } from "node:path";
import { NotEnoughDisk } from "@slipway/engine/stemcells/errors";
import { freeSpace } from "@slipway/engine/stemcells/free-space";
import { syncDirectory } from "@slipway/kernel/atomic-file";
import { SlipwayError, systemCode } from "@slipway/kernel/errors";
import type { Db } from "../store/schema.ts";
import { UploadUnusable } from "./refusals.ts";
import type { Services } from "./services.ts";

/** Streams an archive of any size into a new file. Unless all of it came and is on disk, nothing is left. */
export async function receiveUpload(
  stream: IncomingMessage,
  { uploadsDir, random, freeSpace: free = freeSpace }: Pick<Services, "uploadsDir" | "random" | "freeSpace">,
  kind: "stemcell",
): Promise<string> {
  const room = await free(uploadsDir);
  const announced = Number(stream.headers["content-length"] ?? 0);
  if (announced > room) throw NotEnoughDisk({ what: `the uploaded ${kind}`, free: room });
  const path = join(uploadsDir, `${kind}-${random.uuid()}.tgz`);
  const file = await open(path, "wx", 0o600);
  let whole = false;
  try {
    let size = 0;
    for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
      size += (chunk as Buffer).length;
      if (size > room) throw NotEnoughDisk({ what: `the uploaded ${kind}`, free: room });
      await file.appendFile(chunk as Buffer);
    }
    // The CLI sends an upload that got a 401 once more, with nothing in it.
    if (size === 0) throw UploadUnusable({ kind, why: "is empty" });
    await file.sync();
    whole = true;
  } catch (error) {
    if (error instanceof SlipwayError && error.number !== undefined) throw error;
    if (systemCode(error) === "ENOSPC") throw NotEnoughDisk({ what: `the uploaded ${kind}`, free: room });
    throw UploadUnusable({ kind, why: "ended too early" }, { cause: error });
  } finally {
    await file.close();
    if (!whole) await rm(path, { force: true });
  }
  await syncDirectory(uploadsDir);
  return path;
}

/**
 * Removes archives that no task will read, left by a crash between upload and task, and what tasks had unpacked. To be
 * called at the start, before any task runs.
 */
export async function sweepUploads(db: Db, uploadsDir: string): Promise<readonly string[]> {
  const rows = await db
    .selectFrom("tasks")
    .select("params_sealed")
    .where("type", "=", "update_stemcell")
    .where("state", "in", ["queued", "processing", "cancelling"])
    .execute();
  const needed = new Set(rows.map(({ params_sealed: params }) => basename(String(params.path ?? ""))));
  const stale = (await readdir(uploadsDir)).filter(
    (name) => /^stemcell-[0-9a-f-]{36}\.tgz$/.test(name) && !needed.has(name),
  );
  for (const name of stale) await unlink(join(uploadsDir, name));
  const unpacked = (await readdir(uploadsDir)).filter((name) => /^unpacked-\d+$/.test(name));
  for (const name of unpacked) await rm(join(uploadsDir, name), { recursive: true, force: true });
  return stale;
}
