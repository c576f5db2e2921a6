import { createHash } from "node:crypto";
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { decodeSnapshot, encodeSnapshot, type Snapshot } from "./ruby-snapshot.ts";
import { BOOT, bootSnapshot } from "./ruby-vm.ts";
import { type FileIdentity, WasmFile } from "./wasm-file.ts";
import { prepareModule } from "./wasm-memory.ts";
import type {} from "./webassembly.ts";

/** 512 MiB: templates of large releases stay under 100. */
const MEMORY_PAGES = 8192;

/** Name of the snapshot file, which the build puts beside the threads' program. */
export const SNAPSHOT_FILE = "render-snapshot.bin";

/** Data that each thread starts from. A module that crosses threads shares its code. */
export interface LoadedRuby {
  readonly module: WebAssembly.Module;
  readonly snapshot: Snapshot;
  /** File that both belong to: a thread reads its data. */
  readonly file: FileIdentity;
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

/**
 * Compiles the Ruby and reads its snapshot; without one that fits this Ruby and this program, boots the Ruby to take one.
 */
export async function loadRuby(file: WasmFile, { ruby, snapshot }: RubyFiles): Promise<LoadedRuby> {
  const { module, key } = await compiled(file, ruby);
  const kept = keptSnapshot(snapshot, key);
  return { module, file: file.identity, snapshot: kept ?? (await bootSnapshot(module, file)) };
}

/** Reads a snapshot into memory that threads share: copying it for each takes longer than reading it. */
function keptSnapshot(path: string, key: string): Snapshot | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(path, "r");
    const bytes = new Uint8Array(new SharedArrayBuffer(fstatSync(fd).size));
    return decodeSnapshot(bytes.subarray(0, readSync(fd, bytes)), key);
  } catch {
    // Whatever is wrong with it, Ruby boots without.
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** Writes the snapshot, unless the one that is there fits. */
export async function writeSnapshot({ ruby, snapshot }: RubyFiles): Promise<void> {
  const file = await WasmFile.open(ruby);
  try {
    const { module, key } = await compiled(file, ruby);
    if (keptSnapshot(snapshot, key) !== undefined) return;
    await writeFile(snapshot, encodeSnapshot(await bootSnapshot(module, file), key));
  } finally {
    await file.close();
  }
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

async function compiled(file: WasmFile, path: string): Promise<{ module: WebAssembly.Module; key: string }> {
  const [bytes, release] = await Promise.all([file.code(), readFile(join(dirname(path), "../package.json"))]);
  // Of the module itself only what a package manager has checked: hashing 36 MB takes a fifth of a start.
  const hash = createHash("sha256");
  for (const part of [release, String(file.size), BOOT, String(MEMORY_PAGES)]) hash.update(part);
  const key = hash.digest("hex");
  for (const flag of V8_FLAGS) setFlagsFromString(flag);
  return { module: await WebAssembly.compile(prepareModule(bytes, MEMORY_PAGES)), key };
}
