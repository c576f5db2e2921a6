import type { Readable } from "node:stream";

/** Id of a blob, chosen by its creator: one path segment, never empty, never a path. */
export type BlobId = string & { readonly "a blob's id": true };

export interface StoredBlob {
  readonly id: BlobId;
  readonly size: number;
  /** Digest as BOSH writes it: `sha256:` and hexadecimal digits. */
  readonly digest: string;
}

export interface PutOptions {
  /** Unless it is given the store makes one. An id is used once. */
  readonly id?: BlobId | undefined;
  /** Called before each chunk is stored, with the size including it; an exception ends the upload. */
  readonly before?: ((size: number) => void) | undefined;
}

/**
 * Contents of any size, by id: what was uploaded, and later releases, rendered templates, logs, DNS records. A
 * directory today; S3 and its like will stand behind the same words.
 */
export interface Blobs {
  /** Takes in all of it or nothing, whatever happens meanwhile. When it resolves the content is there for good. */
  put(content: AsyncIterable<Uint8Array>, options?: PutOptions): Promise<StoredBlob>;
  /** Returns undefined if the blob does not exist. */
  get(id: BlobId): Promise<{ readonly size: number; readonly content: Readable } | undefined>;
  has(id: BlobId): Promise<boolean>;
  /** Succeeds if the blob does not exist. */
  remove(id: BlobId): Promise<void>;
  list(): Promise<readonly BlobId[]>;
  /**
   * Returns a URL that allows one operation without other credentials for a limited time; undefined if the store has no such
   * URLs.
   */
  signedUrl(id: BlobId, verb: "get" | "put", forMs: number): Promise<string | undefined>;
}
