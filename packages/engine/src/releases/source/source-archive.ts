import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import { posix } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { type TarInput, tarBytes } from "@slipway/kernel/tar/write";
import { inOrder, type SourceFile } from "./fingerprint.ts";

/** Everything a tar of these files holds, directories too: who unpacks it as root has no say in their modes. */
export function archiveEntries(files: readonly SourceFile[]): readonly TarInput[] {
  const made = new Set<string>();
  return inOrder(files).flatMap(({ name, content }) => {
    const parents: TarInput[] = [];
    for (let at = posix.dirname(name); at !== "." && !made.has(at); at = posix.dirname(at)) {
      made.add(at);
      parents.unshift({ type: "directory", name: at, mode: 0o755 });
    }
    return [...parents, entryOf(name, content)];
  });
}

function entryOf(name: string, content: SourceFile["content"]): TarInput {
  if (content.type === "symlink") return { type: "symlink", name, to: content.to, mode: 0o777 };
  if (content.type === "text") return { type: "text", name, text: content.text, mode: 0o644 };
  return { type: "file", name, path: content.path, mode: content.executable ? 0o755 : 0o644 };
}

/**
 * Writes a new file: a tar, gzipped or not, whose bytes depend on its entries alone. Resolves to its digest in the form
 * of release.MF. When it fails nothing is left.
 */
export async function writeTarFile(
  to: string,
  entries: readonly TarInput[],
  { gzip }: { readonly gzip: boolean },
): Promise<string> {
  const hash = createHash("sha256");
  const bytes = Readable.from(tarBytes(entries, 0), { objectMode: false });
  const out = createWriteStream(to, { flags: "wx", mode: 0o644 });
  async function* hashed(source: AsyncIterable<Uint8Array>) {
    for await (const piece of source) {
      hash.update(piece);
      yield piece;
    }
  }
  try {
    if (gzip) await pipeline(bytes, createGzip(), hashed, out);
    else await pipeline(bytes, hashed, out);
  } catch (error) {
    await rm(to, { force: true });
    throw error;
  }
  return `sha256:${hash.digest("hex")}`;
}
