import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { messageTrail, SlipwayError, systemCode } from "@slipway/kernel/errors";
import { parseStrictJson } from "@slipway/kernel/strict-json";
import { plainName, readTar } from "@slipway/kernel/tar/read";
import { MIGRATIONS } from "../store/migrations.ts";
import { decrypted, MAGIC } from "./crypt.ts";
import { BackupNewer, BackupUnreadable, PassphraseNeeded, WrongPassphrase } from "./errors.ts";
import { type FileEntry, MANIFEST, type Manifest, manifestOf } from "./format.ts";

export interface Backup {
  readonly path: string;
  readonly passphrase: string | undefined;
}

export interface BackupFile {
  readonly path: string;
  readonly body: AsyncIterable<Uint8Array>;
}

const MOST_IN_MEMORY = 256 << 20;
const CHUNK = 1 << 18;

/** Reads all of it and believes nothing before: resolves when every digest is as the manifest says. */
export async function verified(backup: Backup): Promise<Manifest> {
  const { path } = backup;
  const broken = (why: string) => BackupUnreadable({ path, why });
  const seen = new Map<string, { size: number; sha256: string }>();
  let manifest: Manifest | undefined;
  for await (const entry of entriesOf(backup)) {
    if (manifest !== undefined) throw broken(`${entry.path} follows its manifest`);
    if (entry.path === MANIFEST) {
      manifest = parsedManifest(await textOf(entry, broken), broken);
      continue;
    }
    if (seen.has(entry.path)) throw broken(`${entry.path} is in it twice`);
    seen.set(entry.path, await digestOf(entry));
  }
  if (manifest === undefined) throw broken("it has no manifest: it was cut off, or is something else");
  mustMatch(manifest.files, seen, broken);
  const knows = MIGRATIONS.at(-1)?.id ?? 0;
  if (manifest.migration > knows)
    throw BackupNewer({ path, has: manifest.migration, knows, version: manifest.version });
  return manifest;
}

function mustMatch(
  files: readonly FileEntry[],
  seen: ReadonlyMap<string, { readonly size: number; readonly sha256: string }>,
  broken: (why: string) => Error,
): void {
  for (const { path, size, sha256 } of files) {
    const found = seen.get(path);
    if (found === undefined) throw broken(`${path} is missing from it`);
    if (found.size !== size || found.sha256 !== sha256) throw broken(`${path} was changed`);
  }
  const listed = new Set(files.map(({ path }) => path));
  for (const path of seen.keys()) if (!listed.has(path)) throw broken(`its manifest does not list ${path}`);
}

function parsedManifest(text: string, broken: (why: string) => Error): Manifest {
  let document: unknown;
  try {
    document = parseStrictJson(text, MANIFEST);
  } catch (cause) {
    throw broken(messageTrail(cause));
  }
  const manifest = manifestOf(document);
  if (typeof manifest === "string") throw broken(manifest);
  return manifest;
}

/** Yields the files of a backup one by one; a body is read before the next one. */
export async function* entriesOf(backup: Backup): AsyncGenerator<BackupFile> {
  const broken = (why: string) => BackupUnreadable({ path: backup.path, why });
  const rules = { refuse: broken, end: "needed" } as const;
  for await (const { entry, body } of readTar(tarOf(backup), rules)) {
    if (entry.type !== "file") throw broken(`${entry.name} is a ${entry.type}`);
    if (plainName(entry.name, broken) !== entry.name) throw broken(`${entry.name} is no plain name`);
    yield { path: entry.name, body };
  }
}

/** Decrypted and unpacked. */
async function* tarOf({ path, passphrase }: Backup): AsyncGenerator<Uint8Array> {
  const closes: (() => unknown)[] = [];
  try {
    const sealed = await isEncrypted(path);
    if (sealed && passphrase === undefined) throw PassphraseNeeded({ path });
    const file = createReadStream(path, { highWaterMark: CHUNK });
    const opened = (phrase: string) =>
      decrypted(file, phrase, (cause) => WrongPassphrase({ path }, { cause }));
    const zipped: Readable =
      sealed && passphrase !== undefined ? Readable.from(opened(passphrase), { objectMode: false }) : file;
    const bytes = createGunzip({ chunkSize: CHUNK });
    closes.push(
      () => file.destroy(),
      () => bytes.destroy(),
    );
    // The reader receives every failure.
    zipped.on("error", (error) => bytes.destroy(error));
    yield* zipped.pipe(bytes) as AsyncIterable<Uint8Array>;
  } catch (error) {
    if (error instanceof SlipwayError) throw error;
    const why = systemCode(error) === "ENOENT" ? "there is no such file" : messageTrail(error);
    throw BackupUnreadable({ path, why }, { cause: error });
  } finally {
    for (const close of closes) close();
  }
}

async function isEncrypted(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAGIC.length), 0, MAGIC.length, 0);
    return buffer.subarray(0, bytesRead).equals(MAGIC);
  } finally {
    await file.close();
  }
}

async function digestOf({ body }: BackupFile): Promise<{ size: number; sha256: string }> {
  const hash = createHash("sha256");
  let size = 0;
  for await (const piece of body) {
    hash.update(piece);
    size += piece.length;
  }
  return { size, sha256: hash.digest("hex") };
}

/** Returns the bytes of an entry that fits into memory. */
export async function bytesOf({ path, body }: BackupFile, broken: (why: string) => Error): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const piece of body) {
    size += piece.length;
    if (size > MOST_IN_MEMORY) throw broken(`${path} is too large`);
    parts.push(Buffer.from(piece));
  }
  return Buffer.concat(parts);
}

const textOf = async (entry: BackupFile, broken: (why: string) => Error): Promise<string> =>
  (await bytesOf(entry, broken)).toString("utf8");
