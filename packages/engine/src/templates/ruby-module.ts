import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { withMemoryLimit } from "./wasm-memory.ts";
import type {} from "./webassembly.ts";

/** 512 MiB: templates of large releases stay under 100. */
const MEMORY_PAGES = 8192;

/** Where CRuby with its standard library is, for a program that stands at `from`. */
export const rubyFile = (from: string | URL): string =>
  createRequire(from).resolve("@ruby/3.3-wasm-wasi/dist/ruby+stdlib.wasm");

/** Compiled once for all threads. */
export const compileRuby = async (file: string): Promise<WebAssembly.Module> =>
  await WebAssembly.compile(withMemoryLimit(await readFile(file), MEMORY_PAGES));
