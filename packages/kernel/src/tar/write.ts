import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { BLOCK, padding } from "./header.ts";

/** Entry of a tar to write; everything belongs to root. */
export type TarInput = { readonly name: string; readonly mode: number } & (
  | { readonly type: "directory" }
  | { readonly type: "symlink"; readonly to: string }
  /** Another name of a file that came before, as it is named there. */
  | { readonly type: "link"; readonly to: string }
  | { readonly type: "text"; readonly text: string | Uint8Array }
  /** File with the size it has when its turn comes. */
  | { readonly type: "file"; readonly path: string }
  /** Content that is opened when its turn comes. */
  | { readonly type: "stream"; readonly open: () => Promise<SizedContent> }
);

interface SizedContent {
  readonly size: number;
  readonly content: AsyncIterable<Uint8Array>;
}

const FLAG = { directory: "5", symlink: "2", link: "1", text: "0", file: "0", stream: "0" } as const;
const MOST_OCTAL = 0o77777777777;

/**
 * The bytes of a tar, which depend on names, modes and contents alone: the entries come in the order given, and all have
 * this time, in seconds. ustar, with pax records for what does not fit.
 */
export async function* tarBytes(
  entries: Iterable<TarInput> | AsyncIterable<TarInput>,
  time: number,
): AsyncGenerator<Uint8Array> {
  for await (const entry of entries) {
    const { size, content } = await contentOf(entry);
    yield headersOf(entry, size, time);
    let left = size;
    for await (const piece of content) {
      left -= piece.length;
      if (left < 0) break;
      yield piece;
    }
    if (left !== 0) throw new Error(`${entry.name} had another size while it was read`);
    yield Buffer.alloc(padding(size));
  }
  yield Buffer.alloc(2 * BLOCK);
}

async function contentOf(entry: TarInput): Promise<SizedContent | { size: number; content: [Buffer] }> {
  if (entry.type === "stream") return await entry.open();
  if (entry.type !== "file") {
    const text = Buffer.from(entry.type === "text" ? entry.text : "");
    return { size: text.length, content: [text] };
  }
  const { size } = await stat(entry.path);
  if (size === 0) return { size, content: [Buffer.alloc(0)] };
  return { size, content: createReadStream(entry.path, { end: size - 1, highWaterMark: 1 << 20 }) };
}

function headersOf(entry: TarInput, size: number, time: number): Buffer {
  const name = entry.type === "directory" ? `${entry.name}/` : entry.name;
  const link = entry.type === "symlink" || entry.type === "link" ? entry.to : "";
  const { type, mode } = entry;
  const block = blockOf({ name, link, mode, size: Math.min(size, MOST_OCTAL), time, flag: FLAG[type] });
  const records = Buffer.from(
    [
      Buffer.byteLength(name) > 100 ? record("path", name) : "",
      Buffer.byteLength(link) > 100 ? record("linkpath", link) : "",
      size > MOST_OCTAL ? record("size", String(size)) : "",
    ].join(""),
  );
  if (records.length === 0) return block;
  const pax = blockOf({ name: "PaxHeader", link: "", mode: 0o644, size: records.length, time, flag: "x" });
  return Buffer.concat([pax, records, Buffer.alloc(padding(records.length)), block]);
}

/** Its length counts itself. */
function record(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  let length = Buffer.byteLength(rest);
  while (length !== Buffer.byteLength(rest) + String(length).length)
    length = Buffer.byteLength(rest) + String(length).length;
  return `${length}${rest}`;
}

interface Fields {
  readonly name: string;
  readonly link: string;
  readonly mode: number;
  readonly size: number;
  readonly time: number;
  readonly flag: string;
}

function blockOf({ name, link, mode, size, time, flag }: Fields): Buffer {
  const block = Buffer.alloc(BLOCK);
  block.write(name, 0, 100);
  block.write(octal(mode, 7), 100);
  block.write(octal(0, 7), 108);
  block.write(octal(0, 7), 116);
  block.write(octal(size, 11), 124);
  block.write(octal(time, 11), 136);
  block.write(" ".repeat(8), 148);
  block.write(flag, 156);
  block.write(link, 157, 100);
  block.write("ustar\x0000", 257);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${octal(sum, 6)}\0 `, 148);
  return block;
}

const octal = (value: number, digits: number): string => value.toString(8).padStart(digits, "0");
