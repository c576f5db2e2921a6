import { createReadStream } from "node:fs";
import { createGunzip } from "node:zlib";
import { messageTrail, SlipwayError } from "@slipway/kernel/errors";
import { BadImage } from "../errors.ts";
import { TarWalk } from "./tar-walk.ts";

const CHUNK = 256 * 1024;

/** Root file systems become two to ten times as large when they are unpacked. */
const MOST_TIMES = 100;
const UNMEASURED = 256 << 20;

/** Looks at pieces of an image before they are sent. */
interface Watch {
  write(piece: Uint8Array): Promise<void>;
  end(): Promise<void>;
}

/**
 * The bytes of an image file as they are, each looked at first. The last ones come when all of it is known to be whole:
 * nobody who reads to the end gets one that is not.
 */
export async function* watched(path: string, kind: "tar" | "tar.gz"): AsyncGenerator<Uint8Array> {
  const watch = kind === "tar" ? plain() : unpacking();
  let held: Uint8Array | undefined;
  for await (const piece of createReadStream(path, { highWaterMark: CHUNK })) {
    await watch.write(piece as Uint8Array);
    if (held !== undefined) yield held;
    held = piece as Uint8Array;
  }
  await watch.end();
  if (held !== undefined) yield held;
}

function plain(): Watch {
  const walk = new TarWalk();
  return {
    write: async (piece) => walk.write(piece),
    end: async () => walk.end(),
  };
}

function unpacking(): Watch {
  const walk = new TarWalk();
  const gunzip = createGunzip({ chunkSize: CHUNK });
  let packed = 0;
  let unpacked = 0;
  const done = (async () => {
    for await (const piece of gunzip) {
      unpacked += (piece as Uint8Array).length;
      if (unpacked > UNMEASURED && unpacked > packed * MOST_TIMES)
        throw BadImage({ why: `it becomes more than ${MOST_TIMES} times as large when it is unpacked` });
      walk.write(piece as Uint8Array);
    }
    walk.end();
  })().catch((error: unknown) => {
    if (error instanceof SlipwayError) throw error;
    throw BadImage({ why: `it cannot be unpacked: ${messageTrail(error)}` }, { cause: error });
  });
  // Somebody asks for it in a moment.
  done.catch(() => undefined);
  return {
    async write(piece) {
      packed += piece.length;
      const taken = new Promise<void>((resolve) => gunzip.write(piece, () => resolve()));
      await Promise.race([done, taken]);
    },
    async end() {
      gunzip.end();
      await done;
    },
  };
}
