import { open } from "node:fs/promises";
import { archiveKind } from "@slipway/kernel/tar/file";
import { BadImage } from "../errors.ts";

export type ImageKind = "none" | "tar" | "tar.gz";

/** bzip2, xz, zstd: engines unpack these too, and we could not see what comes out. */
const OTHERS = ["425a68", "fd377a585a00", "28b52ffd"];

/** Finds out whether a stemcell brings a root file system. Says what is wrong before anything is sent. */
export async function imageKind(path: string): Promise<ImageKind> {
  const file = await open(path, "r").catch((cause: unknown) => {
    throw BadImage({ why: `${path} cannot be read` }, { cause });
  });
  try {
    if (!(await file.stat()).isFile()) throw BadImage({ why: `${path} is no file` });
    const { buffer, bytesRead } = await file.read(Buffer.alloc(512), 0, 512, 0);
    const start = buffer.subarray(0, bytesRead);
    const begins = (magic: string) => start.toString("hex").startsWith(magic);
    if (bytesRead === 0) return "none";
    const kind = OTHERS.some(begins) ? undefined : archiveKind(start);
    if (kind !== undefined) return kind;
  } finally {
    await file.close();
  }
  throw BadImage({ why: "it is neither a tar nor a tar.gz of a root file system" });
}
