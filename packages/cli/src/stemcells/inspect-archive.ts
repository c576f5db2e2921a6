import { readFile, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseYaml } from "@slipway/engine/documents/yaml";
import { fileDigest, readDigest } from "@slipway/engine/stemcells/digest";
import { messageTrail } from "@slipway/kernel/errors";
import { readStemcellManifest, type Stemcell } from "@slipway/protocol/stemcell/stemcell-mf";
import { ImageDiffers, StemcellUnreadable } from "./errors.ts";
import { readArchive, type UnpackedArchive } from "./read-archive.ts";

export interface Inspected {
  readonly stemcell: Stemcell;
  /** The document as it stands in the archive. */
  readonly manifest: unknown;
  readonly imageSize: number;
  /** Digest of the image file, without unpacking it. */
  readonly imageSha1: string;
  /** The image is empty: what it would hold is in the cloud already. */
  readonly light: boolean;
}

/** Reads a stemcell whole, and compares its image with the digest in its `stemcell.MF`. */
export function inspectStemcell(
  file: string,
  options: { readonly scratchDir?: string; readonly largest?: number } = {},
): Promise<Inspected> {
  const { scratchDir = tmpdir(), largest } = options;
  return readArchive(file, { scratchDir, largest }, (unpacked) => inspectUnpacked(file, unpacked));
}

/**
 * An empty image is not compared: upstream's `repack-stemcell --empty-image` leaves the digest of the image that was
 * there.
 */
export async function inspectUnpacked(file: string, { dir, names }: UnpackedArchive): Promise<Inspected> {
  if (!names.includes("stemcell.MF")) throw StemcellUnreadable({ file, why: "it holds no stemcell.MF" });
  const { stemcell, manifest } = readManifest(file, await readFile(join(dir, "stemcell.MF"), "utf8"));
  if (!names.includes("image")) throw StemcellUnreadable({ file, why: "it holds no file called image" });
  const image = join(dir, "image");
  const { size } = await stat(image);
  if (size > 0) await compare(file, stemcell.digest, image);
  return {
    stemcell,
    manifest,
    light: size === 0,
    imageSize: size,
    imageSha1: await fileDigest(image, "sha1"),
  };
}

function readManifest(file: string, text: string): { stemcell: Stemcell; manifest: unknown } {
  const manifest = orUnreadable(file, () => parseYaml(text, "stemcell.MF"));
  const parsed = readStemcellManifest(manifest);
  if (!parsed.ok) throw StemcellUnreadable({ file, why: parsed.problems.join("; ") });
  return { stemcell: parsed.stemcell, manifest };
}

async function compare(file: string, digest: string, image: string): Promise<void> {
  const { algorithm, hex } = orUnreadable(file, () => readDigest(digest));
  const actual = await fileDigest(image, algorithm);
  if (actual !== hex) throw ImageDiffers({ file, algorithm, expected: hex, actual });
}

function orUnreadable<T>(file: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw StemcellUnreadable({ file, why: messageTrail(cause) }, { cause });
  }
}
