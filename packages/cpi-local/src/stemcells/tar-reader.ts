import { BadImage } from "../errors.ts";

export type EntryType = "file" | "link" | "symlink" | "directory" | "device" | "fifo";

export interface TarEntry {
  readonly name: string;
  readonly type: EntryType;
  readonly linkName: string;
  readonly size: number;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  /** Seconds since 1970. */
  readonly mtime: number;
}

const BLOCK = 512;
const LONGEST_NAME = 64 * 1024;

const TYPES: Readonly<Record<string, EntryType>> = {
  "0": "file",
  "\0": "file",
  "7": "file",
  "1": "link",
  "2": "symlink",
  "3": "device",
  "4": "device",
  "5": "directory",
  "6": "fifo",
};

/**
 * Reads a tar, entry by entry, and understands nothing by guess: a checksum that is wrong or a kind of entry that is not
 * known ends it. The body of an entry is passed on in pieces and must be read before the next one.
 */
export async function* readTar(
  bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<{ readonly entry: TarEntry; readonly body: AsyncIterable<Uint8Array> }> {
  const source = new Pieces(bytes);
  let told: Partial<Record<"path" | "linkpath" | "size" | "uid" | "gid", string>> = {};
  for (;;) {
    const block = await source.block();
    // What follows the end says nothing, but a compressed file proves itself whole by its last bytes.
    if (block.every((byte) => byte === 0)) return await source.drain();
    const header = new Header(block);
    const flag = header.flag;
    const size = header.size;
    if (flag === "x" || flag === "g" || flag === "L" || flag === "K") {
      if (size > LONGEST_NAME) throw BadImage({ why: "it has a name that is too long" });
      const text = await source.text(size);
      if (flag === "x") told = { ...told, ...paxOf(text) };
      if (flag === "L") told = { ...told, path: text.replace(/\0.*$/s, "") };
      if (flag === "K") told = { ...told, linkpath: text.replace(/\0.*$/s, "") };
      continue;
    }
    if (flag === "S") throw sparse(header.name);
    const type = TYPES[flag];
    if (type === undefined)
      throw BadImage({
        why: `${JSON.stringify(header.name)} is of an unknown kind (${JSON.stringify(flag)})`,
      });
    const entry: TarEntry = {
      name: told.path ?? header.name,
      type,
      linkName: told.linkpath ?? header.linkName,
      size: type === "file" ? number(told.size, size) : 0,
      mode: header.mode,
      uid: number(told.uid, header.uid),
      gid: number(told.gid, header.gid),
      mtime: header.mtime,
    };
    const stored = number(told.size, size);
    told = {};
    const body = source.body(stored);
    yield { entry, body };
    // Whatever of it was not read.
    for await (const _ of body);
  }
}

const sparse = (name: string) =>
  BadImage({ why: `${JSON.stringify(name)} is stored as a sparse file; pack it without --sparse` });

/** The attributes we have a use for; others say nothing about what is where. */
function paxOf(text: string) {
  const told: Record<string, string> = {};
  let at = 0;
  const bytes = Buffer.from(text, "latin1");
  while (at < bytes.length) {
    const space = bytes.indexOf(0x20, at);
    const length = Number(bytes.subarray(at, space).toString("latin1"));
    if (space < 0 || !Number.isSafeInteger(length) || length < 5 || at + length > bytes.length)
      throw BadImage({ why: "it has damaged attributes" });
    const record = bytes.subarray(space + 1, at + length - 1).toString("utf8");
    const equals = record.indexOf("=");
    const key = record.slice(0, equals);
    if (key.startsWith("GNU.sparse")) throw sparse(record.slice(equals + 1));
    if (["path", "linkpath", "size", "uid", "gid"].includes(key)) told[key] = record.slice(equals + 1);
    at += length;
  }
  return told;
}

function number(text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  const value = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value)) throw BadImage({ why: "it has a damaged number" });
  return value;
}

class Header {
  readonly #block: Buffer;

  constructor(block: Buffer) {
    this.#block = block;
    let sum = 8 * 0x20;
    block.forEach((byte, at) => {
      if (at < 148 || at >= 156) sum += byte;
    });
    if (sum !== this.#octal(148, 8))
      throw BadImage({ why: "it is damaged, or no tar (a checksum is wrong)" });
  }

  get flag(): string {
    return String.fromCharCode(this.#block[156] ?? 0);
  }

  get name(): string {
    const prefix =
      this.#block.subarray(257, 263).toString("latin1") === "ustar\0" ? this.#text(345, 155) : "";
    return prefix === "" ? this.#text(0, 100) : `${prefix}/${this.#text(0, 100)}`;
  }

  get linkName(): string {
    return this.#text(157, 100);
  }

  get size(): number {
    return this.#octal(124, 12);
  }

  get mode(): number {
    return this.#octal(100, 8) & 0o7777;
  }

  get uid(): number {
    return this.#octal(108, 8);
  }

  get gid(): number {
    return this.#octal(116, 8);
  }

  get mtime(): number {
    return this.#octal(136, 12);
  }

  #text(at: number, length: number): string {
    const bytes = this.#block.subarray(at, at + length);
    const end = bytes.indexOf(0);
    return bytes.subarray(0, end < 0 ? length : end).toString("utf8");
  }

  /** Octal digits, or for large numbers the bytes themselves, marked by the first bit. */
  #octal(at: number, length: number): number {
    const bytes = this.#block.subarray(at, at + length);
    if (((bytes[0] ?? 0) & 0x80) !== 0)
      return number(String(bytes.subarray(1).reduce((value, byte) => value * 256 + byte, 0)), 0);
    const text = bytes.toString("latin1").replace(/\0.*$/s, "").trim();
    if (text === "") return 0;
    const value = Number.parseInt(text, 8);
    if (!/^[0-7]+$/.test(text) || !Number.isSafeInteger(value))
      throw BadImage({ why: "it has a damaged number" });
    return value;
  }
}

/** Bytes from pieces of any size. */
class Pieces {
  readonly #from: AsyncIterator<Uint8Array>;
  #piece: Buffer = Buffer.alloc(0);

  constructor(from: AsyncIterable<Uint8Array>) {
    this.#from = from[Symbol.asyncIterator]();
  }

  block(): Promise<Buffer> {
    return this.#take(BLOCK);
  }

  async drain(): Promise<void> {
    while (await this.#more());
  }

  async text(size: number): Promise<string> {
    const bytes = await this.#take(size);
    await this.#take(padding(size));
    return bytes.toString("latin1");
  }

  async *body(size: number): AsyncGenerator<Uint8Array> {
    for (let left = size; left > 0; ) {
      if (this.#piece.length === 0 && !(await this.#more())) throw cutOff();
      const part = this.#piece.subarray(0, left);
      this.#piece = this.#piece.subarray(part.length);
      left -= part.length;
      yield part;
    }
    await this.#take(padding(size));
  }

  async #take(size: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    for (let left = size; left > 0; ) {
      if (this.#piece.length === 0 && !(await this.#more())) throw cutOff();
      const part = this.#piece.subarray(0, left);
      this.#piece = this.#piece.subarray(part.length);
      left -= part.length;
      parts.push(part);
    }
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
  }

  async #more(): Promise<boolean> {
    for (;;) {
      const { done, value } = await this.#from.next();
      if (done) return false;
      this.#piece = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
      if (this.#piece.length > 0) return true;
    }
  }
}

const padding = (size: number): number => (BLOCK - (size % BLOCK)) % BLOCK;
const cutOff = () => BadImage({ why: "it ends too early, as an upload that was cut off does" });
