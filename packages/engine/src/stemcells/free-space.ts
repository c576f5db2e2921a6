import { statfs } from "node:fs/promises";
import { Transform } from "node:stream";
import { DirectorError } from "../model/director-error.ts";
import { NotEnoughDisk } from "./errors.ts";

/** The database lives on the same disk: this much stays free for it. */
const RESERVE = 256 << 20;

/** How many bytes may be written in a directory. */
export type FreeSpace = (directory: string) => Promise<number>;

export const freeSpace: FreeSpace = async (directory) => {
  const { bavail, bsize } = await statfs(directory);
  return Math.max(0, bavail * bsize - RESERVE);
};

export const notEnoughDisk = (what: string, free: number): DirectorError => {
  const error = NotEnoughDisk({ what, free });
  return new DirectorError(500001, `${error.message}. ${error.next}`, { status: 500, cause: error });
};

/** Passes bytes on, and fails as soon as there are more than `most`. */
export function bounded(most: number, tooMany: () => Error): Transform {
  let seen = 0;
  return new Transform({
    highWaterMark: 1 << 18,
    transform(chunk: Buffer, _encoding, done) {
      seen += chunk.length;
      if (seen > most) done(tooMany());
      else done(null, chunk);
    },
  });
}
