import { createHash } from "node:crypto";
import type { BlobTransfer, MadeBlob } from "@slipway/engine/agents/agent";
import { blobId } from "@slipway/engine/blobs/blob-id";
import type { StoredBlob } from "@slipway/engine/blobs/blobs";
import { readDigest } from "@slipway/engine/stemcells/digest";
import type { OperationContext } from "../operation.ts";
import { releaseBlobId } from "../releases/blobs.ts";
import { BlobChanged, BlobDamaged, BlobGone } from "./errors.ts";

interface NamedBlob extends MadeBlob {
  /** Name of the package. */
  readonly name: string;
}

/** Sends a blob to where the agent looks first. A blob that changed since it was stored is noticed. */
export async function pushBlob(
  agent: BlobTransfer,
  { name, blobId: id, digest }: NamedBlob,
  { blobs }: Pick<OperationContext, "blobs">,
  signal: AbortSignal,
): Promise<void> {
  const found = await blobs.get(blobId(id));
  if (found === undefined) throw BlobGone({ name, blob: id });
  let damage: Error | undefined;
  const content = checked(found.content, digest, name, (actual, expected) => {
    damage = BlobDamaged({ name, blob: id, actual, expected });
    return damage;
  });
  try {
    await agent.putBlob(id, { size: found.size, content }, { signal });
  } catch (error) {
    throw damage ?? error;
  } finally {
    found.content.destroy();
  }
}

/** Stores a blob that an agent made as one of this task. Nothing is kept of a blob that changed on its way. */
export async function pullBlob(
  agent: BlobTransfer,
  { name, blobId: id, digest }: NamedBlob,
  taskId: number,
  { blobs, random }: Pick<OperationContext, "blobs" | "random">,
  signal: AbortSignal,
): Promise<StoredBlob> {
  const changed = (actual: string, expected: string) => BlobChanged({ name, actual, expected });
  return await agent.getBlob(
    id,
    (content) => blobs.put(checked(content, digest, name, changed), { id: releaseBlobId(taskId, random) }),
    { signal },
  );
}

/** The same content; at its end it breaks off when it is not what the digest says. */
async function* checked(
  content: AsyncIterable<Uint8Array>,
  digest: string,
  name: string,
  differs: (actual: string, expected: string) => Error,
): AsyncGenerator<Uint8Array> {
  const { algorithm, hex } = readDigest(digest, `package '${name}'`);
  const hash = createHash(algorithm);
  let last: Uint8Array | undefined;
  for await (const piece of content) {
    hash.update(piece);
    if (last !== undefined) yield last;
    last = piece;
  }
  // Checked before the last piece is passed on: the reader never has the whole of a bad blob.
  const actual = hash.digest("hex");
  if (actual !== hex) throw differs(`${algorithm}:${actual}`, `${algorithm}:${hex}`);
  if (last !== undefined) yield last;
}
