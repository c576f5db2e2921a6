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
 * Contents of any size, by id: jobs and packages of releases, compiled packages, logs, exports. They are streams: a store need
 * not have files. `testing/contract.ts` checks what every store keeps to.
 */
export interface Blobs {
  /** Takes in all of it or nothing, whatever happens meanwhile. When it resolves the content is there for good. */
  put(content: AsyncIterable<Uint8Array>, options?: PutOptions): Promise<StoredBlob>;
  /** Returns undefined if the blob does not exist. */
  get(id: BlobId): Promise<{ readonly size: number; readonly content: Readable } | undefined>;
  /**
   * Runs `work` with the path of a private file that has the content, for what needs a file. The path is good until `work` is
   * done, and the file is only read. Returns undefined without running `work` if the blob does not exist.
   */
  withFile<T>(id: BlobId, work: (path: string) => Promise<T>): Promise<T | undefined>;
  has(id: BlobId): Promise<boolean>;
  /** Returns size and time in ms of the end of its upload; undefined if the blob does not exist. */
  stat(id: BlobId): Promise<{ readonly size: number; readonly storedAt: number } | undefined>;
  /** Succeeds if the blob does not exist. */
  remove(id: BlobId): Promise<void>;
  /** Returns the ids of all blobs, in order. */
  list(): Promise<readonly BlobId[]>;
  /**
   * Returns a URL that allows one operation without other credentials for a limited time; undefined if the store has no such
   * URLs.
   */
  signedUrl(id: BlobId, verb: "get" | "put", forMs: number): Promise<string | undefined>;
  /**
   * Removes what killed processes have left on this machine: halves of uploads, files of `withFile`. Must be called while no
   * other process uses the same directory.
   */
  sweep(): Promise<void>;
}
