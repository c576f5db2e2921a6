import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from "node:crypto";
import { defineError } from "./errors.ts";
import type { Random } from "./random.ts";

/** Encrypts what is kept at rest. Whoever changes a byte of it, or has another key, cannot open it. */
export interface Sealer {
  seal(text: string): string;
  open(sealed: string): string;
  /** Returns a hash that the key goes into: without it, short texts cannot be found by trying them. */
  keyedHash(text: string): string;
}

export const SealBroken = defineError<Record<never, never>>({
  code: "KER-006",
  kind: "outside",
  message: () =>
    "an encrypted value cannot be decrypted: the value was changed, or encrypted with another key",
  next: "Restore the key of the state directory from a backup; it belongs to the database beside it.",
});

export const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const PREFIX = "sealed:1:";

export const isSealed = (text: string): boolean => text.startsWith(PREFIX);

/** AES-256-GCM with a nonce of its own for each text. */
export function sealerOf(key: Buffer, random: Random): Sealer {
  if (key.length !== KEY_BYTES) throw new Error(`bug: a key of ${key.length} bytes`);
  const hashKey = Buffer.from(hkdfSync("sha256", key, "", "slipway keyed hash", KEY_BYTES));
  return {
    keyedHash: (text) => createHmac("sha256", hashKey).update(text).digest("hex"),
    seal: (text) => {
      const nonce = Buffer.from(random.hex(NONCE_BYTES), "hex");
      const cipher = createCipheriv("aes-256-gcm", key, nonce);
      const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
      return PREFIX + Buffer.concat([nonce, cipher.getAuthTag(), body]).toString("base64");
    },
    open: (sealed) => {
      if (!isSealed(sealed)) throw SealBroken({});
      const bytes = Buffer.from(sealed.slice(PREFIX.length), "base64");
      try {
        const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, NONCE_BYTES));
        decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
        const body = bytes.subarray(NONCE_BYTES + TAG_BYTES);
        return Buffer.concat([decipher.update(body), decipher.final()]).toString("utf8");
      } catch (cause) {
        throw SealBroken({}, { cause });
      }
    },
  };
}
