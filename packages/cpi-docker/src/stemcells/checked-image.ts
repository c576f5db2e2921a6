import { createReadStream } from "node:fs";
import { PassThrough } from "node:stream";
import { createGunzip } from "node:zlib";
import { messageTrail, SlipwayError } from "@slipway/kernel/errors";
import { readTar } from "@slipway/kernel/tar/read";
import { BadImage } from "../errors.ts";

const CHUNK = 256 * 1024;

/** Root file systems become two to ten times as large when they are unpacked. */
const MOST_TIMES = 100;
const UNMEASURED = 256 << 20;

/**
 * The bytes of an image file as they are, looked at on their way. The last ones come when all of it is known to be whole:
 * no reader gets to the end of one that is not.
 *
 * Names and links that lead out are the engine's affair, which unpacks into a root of its own. What it does not look
 * after is refused here: a few bytes that unpack to a disk full of zeros, and an archive that ends too early.
 */
export async function* checkedImage(path: string, kind: "tar" | "tar.gz"): AsyncGenerator<Uint8Array> {
  const unpacked = kind === "tar" ? new PassThrough() : createGunzip({ chunkSize: CHUNK });
  let sent = 0;
  const looked = look(unpacked, () => sent).catch((error: unknown) => {
    if (error instanceof SlipwayError) throw error;
    throw BadImage({ why: `it cannot be unpacked: ${messageTrail(error)}` }, { cause: error });
  });
  // It is awaited in a moment; until then a rejection is not unhandled.
  looked.catch(() => undefined);
  let held: Uint8Array | undefined;
  try {
    for await (const piece of createReadStream(path, { highWaterMark: CHUNK })) {
      sent += (piece as Uint8Array).length;
      const taken = new Promise<void>((resolve) => unpacked.write(piece, () => resolve()));
      await Promise.race([looked, taken]);
      if (held !== undefined) yield held;
      held = piece as Uint8Array;
    }
    unpacked.end();
    await looked;
    if (held !== undefined) yield held;
  } finally {
    unpacked.destroy();
  }
}

/** Goes through all entries, as the engine does. */
async function look(unpacked: AsyncIterable<Uint8Array>, packed: () => number): Promise<void> {
  let entries = 0;
  const refuse = (why: string) => BadImage({ why });
  for await (const _ of readTar(measured(unpacked, packed), { refuse, end: "optional" })) entries += 1;
  if (entries === 0) throw BadImage({ why: "there is nothing in it" });
}

async function* measured(
  pieces: AsyncIterable<Uint8Array>,
  packed: () => number,
): AsyncGenerator<Uint8Array> {
  let seen = 0;
  for await (const piece of pieces) {
    seen += piece.length;
    if (seen > UNMEASURED && seen > packed() * MOST_TIMES)
      throw BadImage({ why: `it becomes more than ${MOST_TIMES} times as large when it is unpacked` });
    yield piece;
  }
}
