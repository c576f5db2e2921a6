import { lstat, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { messageTrail, SlipwayError, systemCode } from "@slipway/kernel/errors";
import { ifThere } from "@slipway/kernel/files";
import { readStemcellManifest, type Stemcell } from "@slipway/protocol/stemcell/stemcell-mf";
import { parseYaml } from "../documents/yaml.ts";
import { BadArchive, ImageMissing, NotEnoughDisk } from "./errors.ts";
import { damageOf, extract } from "./extract.ts";
import { type FreeSpace, freeSpace } from "./free-space.ts";

export interface UnpackedStemcell {
  readonly stemcell: Stemcell;
  readonly imagePath: string;
}

export interface UnpackOptions {
  readonly freeSpace?: FreeSpace;
  readonly signal?: AbortSignal;
}

/**
 * Takes `stemcell.MF` and `image` out of a stemcell into an existing, empty directory, and reads the former. Of an
 * archive with anything strange in it nothing is kept. The caller removes the directory when it is done.
 */
export async function unpackStemcell(
  file: string,
  directory: string,
  options: UnpackOptions = {},
): Promise<UnpackedStemcell> {
  const manifestPath = join(directory, "stemcell.MF");
  const imagePath = join(directory, "image");
  try {
    await unpack(file, directory, options);
    const stemcell = await readManifest(manifestPath);
    await imageIn(imagePath, stemcell);
    return { stemcell, imagePath };
  } catch (error) {
    await Promise.all([manifestPath, imagePath].map((path) => rm(path, { force: true })));
    throw error;
  }
}

async function unpack(file: string, directory: string, options: UnpackOptions): Promise<void> {
  const free = await (options.freeSpace ?? freeSpace)(directory);
  const tooBig = () => NotEnoughDisk({ what: "unpacking the stemcell", free });
  try {
    const refused = (why: string) => BadArchive({ why });
    await extract(file, directory, { mostBytes: free, tooBig, refused }, options.signal);
  } catch (error) {
    options.signal?.throwIfAborted();
    if (error instanceof SlipwayError && error.number !== undefined) throw error;
    if (systemCode(error) === "ENOSPC") throw tooBig();
    throw BadArchive({ why: damageOf(error) }, { cause: error });
  }
}

async function readManifest(path: string): Promise<Stemcell> {
  const text = await ifThere(readFile(path, "utf8"));
  if (text === undefined) throw BadArchive({ why: "it holds no stemcell.MF" });
  const parsed = readStemcellManifest(parseManifest(text));
  if (parsed.ok) return parsed.stemcell;
  throw BadArchive({ why: parsed.problems.join("; ") });
}

function parseManifest(text: string): unknown {
  try {
    return parseYaml(text, "stemcell.MF");
  } catch (cause) {
    throw BadArchive({ why: messageTrail(cause) }, { cause });
  }
}

async function imageIn(path: string, { name, version }: Stemcell): Promise<void> {
  const found = await ifThere(lstat(path));
  if (!found?.isFile()) throw ImageMissing({ name, version });
}
