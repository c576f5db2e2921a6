import type { BlobId } from "./blobs.ts";
import { BadBlobId } from "./errors.ts";

/** A leading dot is how half-written contents are named. */
const ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/;

export const isBlobId = (text: string): text is BlobId => ID.test(text);

export function blobId(text: string): BlobId {
  if (isBlobId(text)) return text;
  throw BadBlobId({});
}
