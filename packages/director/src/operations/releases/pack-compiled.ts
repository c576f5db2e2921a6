import { pipeline } from "node:stream";
import { createGzip } from "node:zlib";
import type { BlobId, Blobs, StoredBlob } from "@slipway/engine/blobs/blobs";
import { compiledArchive, type PackedRelease } from "@slipway/engine/releases/compiled-archive";
import { verifyContent } from "@slipway/engine/stemcells/digest";
import { tarBytes } from "@slipway/kernel/tar/write";
import { exportedBlobId } from "../../artifacts/exported.ts";
import type { TaskContext } from "../../tasks/task.ts";
import { BlobGone } from "../compile/errors.ts";
import type { OperationContext } from "../operation.ts";

/** Opens a blob of a release. */
export async function contentOf(id: BlobId, name: string, blobs: Pick<Blobs, "get">) {
  const blob = await blobs.get(id);
  if (blob === undefined) throw BlobGone({ name, blob: id });
  return blob;
}

/** A compiled release as one blob. What goes into it is checked first: it goes to others, who trust it. */
export async function packCompiled(
  packed: PackedRelease,
  task: TaskContext,
  { blobs, clock, random }: OperationContext,
): Promise<StoredBlob> {
  const check = async (name: string, { blobId, digest }: { blobId: BlobId; digest: string }) => {
    task.signal.throwIfAborted();
    await verifyContent(async () => (await contentOf(blobId, name, blobs)).content, digest, name);
  };
  const packages = task.stage("copying packages", [], packed.packages.length);
  for (const one of packed.packages) {
    const { name, version } = one.package;
    await packages.step(`${name}/${version}`, () => check(name, one));
  }
  const jobs = task.stage("copying jobs", [], packed.jobs.length);
  for (const one of packed.jobs) await jobs.step(`${one.name}/${one.version}`, () => check(one.name, one));
  // What is in it is packed already.
  const gzip = createGzip({ level: 1 });
  const entries = compiledArchive(packed, (id) => contentOf(id, "the release", blobs));
  // Who reads it hears of every failure.
  pipeline(tarBytes(entries, Math.floor(clock.now() / 1000)), gzip, () => undefined);
  const before = () => task.signal.throwIfAborted();
  return await blobs.put(gzip, { id: exportedBlobId(task.id, random), before });
}
