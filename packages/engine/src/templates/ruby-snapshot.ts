import { createHash } from "node:crypto";
import { check } from "@slipway/protocol/schema/check";
import * as v from "valibot";
import type { DataRun } from "./wasm-file.ts";

/** Memory and globals of a booted interpreter: what its memory takes from the module's file, and the pages that differ. */
export interface Snapshot {
  /** Size of the memory in bytes. */
  readonly memory: number;
  readonly globals: readonly number[];
  readonly runs: readonly DataRun[];
  /** Numbers of the pages that differ, of `PAGE` bytes each. */
  readonly pages: readonly number[];
  /** Contents of these pages, in the same order. */
  readonly contents: Uint8Array;
}

export const PAGE = 4096;
const FORMAT = 2;
const LENGTH_BYTES = 4;

const header = v.object({
  format: v.literal(FORMAT),
  key: v.string(),
  digest: v.string(),
  memory: v.number(),
  globals: v.array(v.number()),
  runs: v.array(v.object({ file: v.number(), memory: v.number(), length: v.number() })),
  pages: v.array(v.number()),
});

const digestOf = (contents: Uint8Array): string => createHash("sha256").update(contents).digest("hex");

/** The bytes of a snapshot file: the header's length, the header as JSON, the contents. `key` names what it fits. */
export function encodeSnapshot({ contents, ...rest }: Snapshot, key: string): Uint8Array {
  const text = Buffer.from(JSON.stringify({ format: FORMAT, key, digest: digestOf(contents), ...rest }));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32LE(text.length);
  return Buffer.concat([length, text, contents]);
}

/** The snapshot of a file, or undefined unless it is whole and was made for the same `key`. */
export function decodeSnapshot(bytes: Uint8Array, key: string): Snapshot | undefined {
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (whole.length < LENGTH_BYTES) return undefined;
  const end = LENGTH_BYTES + whole.readUInt32LE();
  const found = check(header, parsed(whole.subarray(LENGTH_BYTES, end).toString()), "snapshot");
  if (!found.ok || found.value.key !== key) return undefined;
  const contents = whole.subarray(end);
  const { digest, memory, globals, runs, pages } = found.value;
  if (contents.length !== pages.length * PAGE || digestOf(contents) !== digest) return undefined;
  return { memory, globals, runs, pages, contents };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Compares page by page; what lies beyond the end of `before` counts as zeros. */
export function differingPages(before: Uint8Array, after: Uint8Array): Pick<Snapshot, "pages" | "contents"> {
  const zeros = Buffer.alloc(PAGE);
  const page = (bytes: Uint8Array, at: number) => Buffer.from(bytes.buffer, bytes.byteOffset + at, PAGE);
  const pages: number[] = [];
  for (let at = 0; at < after.length; at += PAGE)
    if (!page(after, at).equals(at < before.length ? page(before, at) : zeros)) pages.push(at / PAGE);
  return { pages, contents: Buffer.concat(pages.map((one) => page(after, one * PAGE))) };
}
