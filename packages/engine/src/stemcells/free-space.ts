import { statfs } from "node:fs/promises";
import { Transform } from "node:stream";

/** The database lives on the same disk: this much stays free for it. */
export const RESERVE = 256 << 20;

/** How many bytes may be written in a directory. */
export type FreeSpace = (directory: string) => Promise<number>;

export const freeSpace: FreeSpace = async (directory) => {
  const { bavail, bsize } = await statfs(directory);
  return Math.max(0, bavail * bsize - RESERVE);
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
