import type { Readable } from "node:stream";

/** One path segment, given by whoever stores it: never empty, never a path. */
export type BlobId = string & { readonly "a blob's id": true };

export interface StoredBlob {
  readonly id: BlobId;
  readonly size: number;
  /** As BOSH writes digests: `sha256:` and hexadecimal digits. */
  readonly digest: string;
}

export interface PutOptions {
  /** Unless it is given the store makes one. An id is used once. */
  readonly id?: BlobId | undefined;
  /** Told of each piece before it is kept; what it throws ends the upload. */
  readonly before?: ((size: number) => void) | undefined;
}

/**
 * Contents of any size, by id: what was uploaded, and later releases, rendered templates, logs, DNS records. A
 * directory today; S3 and its like will stand behind the same words.
 */
export interface Blobs {
  /** Takes in all of it or nothing, whatever happens meanwhile. When it resolves the content is there for good. */
  put(content: AsyncIterable<Uint8Array>, options?: PutOptions): Promise<StoredBlob>;
  /** Undefined when there is none. */
  get(id: BlobId): Promise<{ readonly size: number; readonly content: Readable } | undefined>;
  has(id: BlobId): Promise<boolean>;
  /** Fine when there was none. */
  remove(id: BlobId): Promise<void>;
  list(): Promise<readonly BlobId[]>;
  /** A URL by which somebody without other rights does it for so long; undefined where the store gives out none. */
  signedUrl(id: BlobId, verb: "get" | "put", forMs: number): Promise<string | undefined>;
}
