import { createReadStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { messageTrail, systemCode } from "@slipway/kernel/errors";
import type { TarHeader } from "modern-tar";
import { unpackTar } from "modern-tar/fs";
import { type EntryRules, entryRules } from "./entry-rules.ts";
import { bounded } from "./free-space.ts";

const CHUNK = 1 << 18;

/** Unpacks the files of a stemcell that its rules keep into a directory; their names, in the order of the archive. */
export async function extract(
  file: string,
  directory: string,
  given: EntryRules,
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const rules = entryRules(given);
  const names: string[] = [];
  const map = (header: TarHeader) => {
    const plain = rules.map(header);
    names.push(plain.name);
    return plain;
  };
  await pipeline(
    createReadStream(file, { highWaterMark: CHUNK }),
    createGunzip({ chunkSize: CHUNK }),
    bounded(given.mostBytes, given.tooBig),
    unpackTar(directory, { filter: rules.filter, map, strict: true, fmode: 0o600, dmode: 0o700 }),
    { signal },
  );
  return names;
}

/** Why something is not read to its end, in words. */
export function damageOf(error: unknown): string {
  const code = systemCode(error);
  if (code === "Z_BUF_ERROR") return "it ends too early, as one that was cut off on its way does";
  if (code?.startsWith("Z_")) return "it is not gzip, or damaged";
  return messageTrail(error);
}
