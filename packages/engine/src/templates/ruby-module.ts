import { createHash } from "node:crypto";
import { open, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { decodeSnapshot, encodeSnapshot, type Snapshot } from "./ruby-snapshot.ts";
import { BOOT, bootSnapshot } from "./ruby-vm.ts";
import { prepareModule, ROOM } from "./wasm-memory.ts";
import type {} from "./webassembly.ts";

/** 512 MiB: templates of large releases stay under 100. */
const MEMORY_PAGES = 8192;

/** Name of the snapshot file, which the build puts beside the threads' program. */
export const SNAPSHOT_FILE = "render-snapshot.bin";

/** Data that each thread starts from. A module that crosses threads shares its code. */
export interface LoadedRuby {
  readonly module: WebAssembly.Module;
  readonly snapshot: Snapshot;
}

export interface RubyFiles {
  /** CRuby with its standard library. */
  readonly ruby: string;
  /** Its snapshot, which may be missing. */
  readonly snapshot: string;
}

/** Returns the path of CRuby with its standard library, for a program at `from`. */
export const rubyFile = (from: string | URL): string =>
  createRequire(from).resolve("@ruby/3.3-wasm-wasi/dist/ruby+stdlib.wasm");

/** Compiles the Ruby and reads its snapshot; without one that fits this Ruby and this program, boots the Ruby to take one. */
export async function loadRuby(files: RubyFiles): Promise<LoadedRuby> {
  const { module, key } = await compiled(files.ruby);
  const kept = await readFile(files.snapshot).catch(() => undefined);
  const snapshot = kept && decodeSnapshot(kept, key);
  return { module, snapshot: snapshot ?? (await bootSnapshot(module)) };
}

/** Writes the snapshot, unless the one that is there fits. */
export async function writeSnapshot(files: RubyFiles): Promise<void> {
  const { module, key } = await compiled(files.ruby);
  const kept = await readFile(files.snapshot).catch(() => undefined);
  if (kept !== undefined && decodeSnapshot(kept, key) !== undefined) return;
  await writeFile(files.snapshot, encodeSnapshot(await bootSnapshot(module), key));
}

/**
 * V8's optimizing compiler takes 100 ms for the first job and seconds for the first hundred, and Ruby's interpreter, which is one
 * huge function, does not get faster by it. The module is checked when it is used, since a package manager has checked the file.
 */
const V8_FLAGS = [
  "--liftoff-only",
  "--no-wasm-tier-up",
  "--no-wasm-dynamic-tiering",
  "--wasm-lazy-validation",
];

async function compiled(file: string): Promise<{ module: WebAssembly.Module; key: string }> {
  const [bytes, release] = await Promise.all([
    withRoom(file),
    readFile(join(dirname(file), "../package.json")),
  ]);
  // Of the module itself only what a package manager has checked: hashing 36 MB takes a fifth of a start.
  const parts = [release, String(bytes.length), BOOT, String(MEMORY_PAGES)];
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  const key = hash.digest("hex");
  for (const flag of V8_FLAGS) setFlagsFromString(flag);
  return { module: await WebAssembly.compile(prepareModule(bytes, MEMORY_PAGES)), key };
}

/** Reads a module behind the free bytes that preparing it needs. */
async function withRoom(file: string): Promise<Uint8Array<ArrayBuffer>> {
  const handle = await open(file);
  try {
    const { size } = await handle.stat();
    const bytes = new Uint8Array(new ArrayBuffer(ROOM + size));
    for (let at = ROOM; at < bytes.length; ) {
      const { bytesRead } = await handle.read(bytes, at, bytes.length - at);
      if (bytesRead === 0) throw new Error(`${file} is cut off`);
      at += bytesRead;
    }
    return bytes;
  } finally {
    await handle.close();
  }
}
