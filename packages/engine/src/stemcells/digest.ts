import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { shown } from "../documents/problems.ts";
import { BadDigest, DigestMismatch } from "./errors.ts";

/** Strongest first. */
const LENGTHS = { sha512: 128, sha256: 64, sha1: 40 } as const;
type Algorithm = keyof typeof LENGTHS;
const ALGORITHMS = Object.keys(LENGTHS) as readonly Algorithm[];

interface Digest {
  readonly algorithm: Algorithm;
  readonly hex: string;
}

/** `<sha1>`, `sha256:<hex>`, or several joined with `;`. The strongest one known counts, others are tolerated. */
export function readDigest(text: string, what = "stemcell"): Digest {
  const bad = (why: string) => BadDigest({ what, why });
  const found = new Map<string, string>();
  for (const part of text.trim().split(";")) {
    if (part.trim() === "") continue;
    const colon = part.indexOf(":");
    const algorithm = colon === -1 ? "sha1" : part.slice(0, colon).trim().toLowerCase();
    if (found.has(algorithm)) throw bad(`Multiple digests of the same algorithm '${algorithm}' found`);
    found.set(
      algorithm,
      part
        .slice(colon + 1)
        .trim()
        .toLowerCase(),
    );
  }
  const algorithm = ALGORITHMS.find((known) => found.has(known));
  const hex = algorithm === undefined ? undefined : found.get(algorithm);
  if (algorithm === undefined || hex === undefined)
    throw bad("No digest algorithm found. Supported algorithms: sha1, sha256, sha512");
  if (hex.length !== LENGTHS[algorithm] || !/^[0-9a-f]+$/.test(hex)) {
    // Upstream finds out when it has the file, in these words.
    const given = shown(algorithm === "sha1" ? hex : `${algorithm}:${hex}`);
    throw bad(
      `Expected stream to have digest '${given}', which no stream has: ${algorithm} has ${LENGTHS[algorithm]} hex digits`,
    );
  }
  return { algorithm, hex };
}

/** Digest of a file, in hex. */
export const fileDigest = (file: string, algorithm: Algorithm): Promise<string> =>
  contentDigest(createReadStream(file, { highWaterMark: 1 << 18 }), algorithm);

/** Digest of a content, in hex. */
export async function contentDigest(
  content: AsyncIterable<Uint8Array>,
  algorithm: Algorithm,
): Promise<string> {
  const hash = createHash(algorithm);
  for await (const chunk of content) hash.update(chunk);
  return hash.digest("hex");
}

/** Throws error 50007 when the file is not what the digest says. */
export const verifyDigest = (file: string, digests: string, what = "stemcell"): Promise<void> =>
  verifyContent(() => createReadStream(file, { highWaterMark: 1 << 18 }), digests, what);

/** Throws error 50007 when the content is not what the digest says. It is opened if the digest can be one. */
export async function verifyContent(
  open: () => AsyncIterable<Uint8Array> | Promise<AsyncIterable<Uint8Array>>,
  digests: string,
  what: string,
): Promise<void> {
  const expected = readDigest(digests, what);
  const actual = await contentDigest(await open(), expected.algorithm);
  if (actual === expected.hex) return;
  const written = (hex: string) => (expected.algorithm === "sha1" ? hex : `${expected.algorithm}:${hex}`);
  throw DigestMismatch({ what, expected: written(expected.hex), actual: written(actual) });
}
