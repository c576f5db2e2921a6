import { constants } from "node:fs";
import { mkdir, open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { messageTrail, systemCode } from "@slipway/kernel/errors";
import { archiveBytes } from "@slipway/kernel/tar/file";
import { readTar } from "@slipway/kernel/tar/read";
import { type EntryRules, entryRules } from "./entry-rules.ts";
import { bounded } from "./free-space.ts";

const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/** Unpacks the files of a stemcell that its rules keep into a directory; their names, in the order of the archive. */
export async function extract(
  file: string,
  directory: string,
  rules: EntryRules,
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const keptAs = entryRules(rules);
  const names: string[] = [];
  const gzip = rules.uncompressed !== true;
  const bytes = archiveBytes(file, { gzip, through: [bounded(rules.mostBytes, rules.tooBig)], signal });
  for await (const { entry, body } of readTar(bytes, { refuse: rules.refused, end: "needed" })) {
    const name = keptAs(entry);
    if (name === undefined) continue;
    await write(join(directory, name), body);
    names.push(name);
  }
  return names;
}

/** Only files are kept, never links: the directories above are the ones made here. */
async function write(path: string, body: AsyncIterable<Uint8Array>): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const file = await open(path, NEW_FILE, 0o600);
  try {
    for await (const piece of body) await file.writeFile(piece);
  } finally {
    await file.close();
  }
}

/** Why something is not read to its end, in words. */
export function damageOf(error: unknown): string {
  const code = systemCode(error);
  if (code === "Z_BUF_ERROR") return "it ends too early, as one that was cut off on its way does";
  if (code?.startsWith("Z_")) return "it is not gzip, or damaged";
  return messageTrail(error);
}
