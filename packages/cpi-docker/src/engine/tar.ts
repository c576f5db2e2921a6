import { createReadStream } from "node:fs";

/** What is put into a tar; all of it belongs to root. */
export type TarEntry = { readonly name: string; readonly mode: number } & (
  | { readonly type: "directory" }
  | { readonly type: "link"; readonly to: string }
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "file"; readonly path: string; readonly size: number }
);

const BLOCK = 512;
export const TAR_END: Buffer = Buffer.alloc(2 * BLOCK);
const FLAG = { directory: "5", link: "2", text: "0", file: "0" } as const;

/** The bytes of a tar, whose entries come in the order given and have this time, in seconds. */
export async function* tarBytes(entries: Iterable<TarEntry>, time: number): AsyncGenerator<Uint8Array> {
  for (const entry of entries) {
    const bytes = entry.type === "text" ? Buffer.from(entry.text, "utf8") : Buffer.alloc(0);
    const size = entry.type === "file" ? entry.size : bytes.length;
    yield tarHeader(entry, size, time);
    if (entry.type === "file") yield* contentOf(entry);
    else yield bytes;
    yield padding(size);
  }
  yield TAR_END;
}

/** What comes after content of this size. */
export const padding = (size: number): Buffer => Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);

async function* contentOf({ path, size }: { readonly path: string; readonly size: number }) {
  let left = size;
  if (size > 0)
    for await (const piece of createReadStream(path, { end: size - 1, highWaterMark: 1 << 20 })) {
      left -= (piece as Uint8Array).length;
      yield piece as Uint8Array;
    }
  if (left > 0) throw new Error(`${path} became shorter while it was read`);
}

export function tarHeader(entry: TarEntry, size: number, time: number): Buffer {
  const [prefix, name] = split(entry.type === "directory" ? `${entry.name}/` : entry.name);
  const link = entry.type === "link" ? entry.to : "";
  if (Buffer.byteLength(link) > 100) throw new RangeError(`the link ${entry.name} is too long for a tar`);
  const block = Buffer.alloc(BLOCK);
  block.write(name, 0);
  block.write(octal(entry.mode, 7), 100);
  block.write(octal(0, 7), 108);
  block.write(octal(0, 7), 116);
  block.write(octal(size, 11), 124);
  block.write(octal(time, 11), 136);
  block.write(" ".repeat(8), 148);
  block.write(FLAG[entry.type], 156);
  block.write(link, 157);
  block.write("ustar\x0000", 257);
  block.write(prefix, 345);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${octal(sum, 6)}\0 `, 148);
  return block;
}

/** A name of more than 100 bytes is divided at a slash. */
function split(name: string): readonly [prefix: string, name: string] {
  if (Buffer.byteLength(name) <= 100) return ["", name];
  for (let at = name.indexOf("/"); at > 0; at = name.indexOf("/", at + 1)) {
    const [prefix, rest] = [name.slice(0, at), name.slice(at + 1)];
    if (Buffer.byteLength(rest) <= 100 && rest !== "" && Buffer.byteLength(prefix) <= 155)
      return [prefix, rest];
  }
  throw new RangeError(`the name ${name} is too long for a tar`);
}

const octal = (value: number, digits: number): string => value.toString(8).padStart(digits, "0");
