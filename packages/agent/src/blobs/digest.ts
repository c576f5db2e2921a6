import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { BadDigest } from "./errors.ts";

/** Weakest first. */
const ALGORITHMS = ["sha1", "sha256", "sha512"] as const;
export type Algorithm = (typeof ALGORITHMS)[number];

const HEX_LENGTH: Readonly<Record<Algorithm, number>> = { sha1: 40, sha256: 64, sha512: 128 };

export interface Digest {
  readonly algorithm: Algorithm;
  /** Lower case. */
  readonly hex: string;
}

/** The one digest of `part;part` that counts: that of the strongest algorithm. */
export const strongestDigest = (text: string): Digest => parseDigests(text).strongest;

/**
 * The parts of `part;part`. A bare part is sha1. Algorithms of a later day are passed over as long as one of ours is
 * there. `shown` is all of it as upstream prints it.
 */
export function parseDigests(text: string): { readonly strongest: Digest; readonly shown: string } {
  const found = new Map<string, string>();
  for (const part of text.split(";").map((one) => one.trim())) {
    if (part === "") continue;
    const colon = part.indexOf(":");
    const algorithm = colon === -1 ? "sha1" : part.slice(0, colon);
    if (found.has(algorithm)) throw BadDigest({ why: "an algorithm stands twice" });
    found.set(algorithm, part.slice(colon + 1).toLowerCase());
  }
  for (const algorithm of ALGORITHMS.toReversed()) {
    const hex = found.get(algorithm);
    if (hex === undefined) continue;
    if (hex.length !== HEX_LENGTH[algorithm] || !/^[0-9a-f]+$/.test(hex))
      throw BadDigest({ why: `a ${algorithm} digest has ${HEX_LENGTH[algorithm]} hex digits` });
    const shown = [...found].map(([name, value]) => (name === "sha1" ? value : `${name}:${value}`));
    return { strongest: { algorithm, hex }, shown: shown.join(";") };
  }
  throw BadDigest({ why: found.size === 0 ? "it is empty" : "its algorithms are not known here" });
}

/** Formats a digest as upstream prints it: sha1 without its name. */
export const formatDigest = ({ algorithm, hex }: Digest): string =>
  algorithm === "sha1" ? hex : `${algorithm}:${hex}`;

/** Returns true if the content has this digest. An invalid digest matches nothing. */
export function checkDigest(content: Uint8Array, text: string): boolean {
  try {
    const { algorithm, hex } = strongestDigest(text);
    return createHash(algorithm).update(content).digest("hex") === hex;
  } catch (error) {
    if (BadDigest.is(error)) return false;
    throw error;
  }
}

export async function hashFile(path: string, algorithm: Algorithm): Promise<string> {
  const hash = createHash(algorithm);
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 18 }) as AsyncIterable<Buffer>)
    hash.update(chunk);
  return hash.digest("hex");
}
