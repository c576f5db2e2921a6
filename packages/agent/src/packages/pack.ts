import { createWriteStream } from "node:fs";
import { lstat, readdir, readlink } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { type TarInput, tarBytes } from "@slipway/kernel/tar/write";
import { CompileFailed } from "./errors.ts";

/** The first moment that zip files know: some programs compare the times of their files. */
const TIME = Date.UTC(1980, 0, 1) / 1000;

/** Packs a directory. The same files give the same bytes, whenever and in whatever order they were made. */
export async function packDirectory(
  directory: string,
  to: string,
  options: { readonly name: string; readonly gzip: boolean; readonly signal: AbortSignal },
): Promise<void> {
  const entries = await entriesOf(directory, ".", options.name);
  const bytes = Readable.from(tarBytes(entries, TIME), { objectMode: false });
  const file = createWriteStream(to, { mode: 0o600, flags: "wx" });
  const { signal } = options;
  if (options.gzip) await pipeline(bytes, createGzip(), file, { signal });
  else await pipeline(bytes, file, { signal });
}

/**
 * First name of each file with several names, by inode. Such a file is packed once: a compiled git has a hundred links.
 */
type Seen = Map<string, string>;

async function entriesOf(
  directory: string,
  name: string,
  packageName: string,
  seen: Seen = new Map(),
): Promise<TarInput[]> {
  const { mode } = await lstat(directory);
  const found: TarInput[] = [{ type: "directory", name, mode: mode & 0o7777 }];
  for (const entry of (await readdir(directory)).sort()) {
    const path = join(directory, entry);
    const inner = `${name}/${entry}`;
    const facts = await lstat(path);
    const own = { name: inner, mode: facts.mode & 0o7777 };
    if (facts.isDirectory()) found.push(...(await entriesOf(path, inner, packageName, seen)));
    else if (facts.isSymbolicLink()) found.push({ ...own, type: "symlink", to: await readlink(path) });
    else if (facts.isFile()) {
      const first = facts.nlink > 1 ? seen.get(`${facts.dev}:${facts.ino}`) : undefined;
      if (first === undefined) found.push({ ...own, type: "file", path });
      else found.push({ ...own, type: "link", to: first });
      if (facts.nlink > 1 && first === undefined) seen.set(`${facts.dev}:${facts.ino}`, inner);
    } else {
      const why = `Compressing compiled package: ${inner} is no file, directory or link`;
      throw CompileFailed({ name: packageName, why });
    }
  }
  return found;
}
