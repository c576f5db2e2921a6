import { createCipheriv, createDecipheriv, scrypt } from "node:crypto";
import type { Random } from "@slipway/kernel/random";
import { Pieces } from "@slipway/kernel/tar/pieces";

/**
 * AES-256-GCM in pieces, with a key that scrypt makes from the passphrase and a salt of the file. Each piece has its
 * number and whether it is the last in what is authenticated: one that is changed, moved, left out or cut off is noticed
 * before any of it is used.
 */
export const MAGIC = Buffer.from("slipway-backup-encrypted-1\n");
const SALT_BYTES = 32;
const TAG_BYTES = 16;
const PIECE = 1 << 20;
const HEAD_BYTES = 5;
/** 64 MiB of memory, and about a quarter of a second, for each guess. */
const COST = { N: 1 << 16, r: 8, p: 1, maxmem: 128 << 20 };

export async function* encrypted(
  bytes: AsyncIterable<Uint8Array>,
  passphrase: string,
  random: Random,
): AsyncGenerator<Uint8Array> {
  const salt = Buffer.from(random.hex(SALT_BYTES), "hex");
  const key = await keyOf(passphrase, salt);
  yield MAGIC;
  yield salt;
  let parts: Uint8Array[] = [];
  let size = 0;
  let number = 0;
  const piece = (last: boolean): Buffer => {
    const cipher = createCipheriv("aes-256-gcm", key, nonceOf(number));
    const head = headOf(size, last);
    cipher.setAAD(head);
    const body = parts.map((part) => cipher.update(part));
    [parts, size, number] = [[], 0, number + 1];
    return Buffer.concat([head, ...body, cipher.final(), cipher.getAuthTag()]);
  };
  for await (const given of bytes)
    for (let at = 0; at < given.length; ) {
      if (size === PIECE) yield piece(false);
      const part = given.subarray(at, at + PIECE - size);
      parts.push(part);
      size += part.length;
      at += part.length;
    }
  yield piece(true);
}

/** `broken` is thrown for whatever cannot be opened. */
export async function* decrypted(
  bytes: AsyncIterable<Uint8Array>,
  passphrase: string,
  broken: (cause?: unknown) => Error,
): AsyncGenerator<Uint8Array> {
  const source = new Pieces(bytes, () => broken());
  try {
    await source.take(MAGIC.length);
    const key = await keyOf(passphrase, Buffer.from(await source.take(SALT_BYTES)));
    for (let number = 0; ; number++) {
      const head = Buffer.from(await source.take(HEAD_BYTES));
      const size = head.readUInt32BE(0);
      if (size > PIECE) throw broken();
      const piece = await source.take(size + TAG_BYTES);
      yield opened(key, number, head, piece, broken);
      if (head[4] !== 1) continue;
      if (!(await source.ended())) throw broken();
      return;
    }
  } finally {
    await source.close();
  }
}

function opened(
  key: Buffer,
  number: number,
  head: Buffer,
  piece: Buffer,
  broken: (cause?: unknown) => Error,
): Buffer {
  try {
    const decipher = createDecipheriv("aes-256-gcm", key, nonceOf(number));
    decipher.setAAD(head);
    decipher.setAuthTag(piece.subarray(piece.length - TAG_BYTES));
    return Buffer.concat([decipher.update(piece.subarray(0, piece.length - TAG_BYTES)), decipher.final()]);
  } catch (cause) {
    throw broken(cause);
  }
}

function headOf(size: number, last: boolean): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32BE(size, 0);
  head[4] = last ? 1 : 0;
  return head;
}

function nonceOf(number: number): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeBigUInt64BE(BigInt(number), 4);
  return nonce;
}

const keyOf = (passphrase: string, salt: Buffer): Promise<Buffer> =>
  new Promise((resolve, reject) =>
    scrypt(passphrase.normalize("NFC"), salt, 32, COST, (error, key) =>
      error === null ? resolve(key) : reject(error),
    ),
  );
