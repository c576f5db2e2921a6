import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { decodeSnapshot, encodeSnapshot, type Snapshot } from "./ruby-snapshot.ts";
import { BOOT, bootSnapshot } from "./ruby-vm.ts";
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

async function compiled(file: string): Promise<{ module: WebAssembly.Module; key: string }> {
  const bytes = await readFile(file);
  const key = createHash("sha256").update(bytes).update(BOOT).update(String(MEMORY_PAGES)).digest("hex");
  return { module: await WebAssembly.compile(prepareModule(bytes, MEMORY_PAGES)), key };
}
