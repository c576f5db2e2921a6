import { BadImage } from "../errors.ts";

const BLOCK = 512;
/** Links, devices, directories, pipes: nothing follows their header, whatever size it says. */
const HEADER_ONLY = "123456";
const MOST_EXTENDED = 1 << 20;

/**
 * Goes through a tar as it comes, from header to header, as the engine does. Names and links that lead out are the
 * engine's affair, which unpacks into a root of its own. What it does not look after is refused here: a few bytes that
 * unpack to a disk full of zeros, and an archive that ends too early.
 */
export class TarWalk {
  readonly #block = Buffer.alloc(BLOCK);
  #filled = 0;
  /** Bytes to the next header, and where they are kept when they are about the next entry. */
  #left = 0;
  #kept: { readonly type: string; readonly size: number; readonly pieces: Uint8Array[] } | undefined;
  #pax: ReadonlyMap<string, string> = new Map();
  #longName: string | undefined;
  #entries = 0;
  #zeros = 0;

  write(piece: Uint8Array): void {
    for (let at = 0; at < piece.length && this.#zeros < 2; ) {
      const inHeader = this.#left === 0;
      const taken = piece.subarray(at, at + (inHeader ? BLOCK - this.#filled : this.#left));
      at += taken.length;
      if (inHeader) this.#fill(taken);
      else this.#pass(taken);
    }
  }

  end(): void {
    if (this.#zeros < 2 && (this.#filled > 0 || this.#left > 0)) throw bad("it ends in the middle of a file");
    if (this.#entries === 0) throw bad("there is nothing in it");
  }

  #fill(bytes: Uint8Array): void {
    this.#block.set(bytes, this.#filled);
    this.#filled += bytes.length;
    if (this.#filled < BLOCK) return;
    this.#filled = 0;
    if (this.#block.every((byte) => byte === 0)) this.#zeros += 1;
    else if (this.#zeros > 0) throw broken();
    else this.#header(this.#block);
  }

  #pass(bytes: Uint8Array): void {
    this.#left -= bytes.length;
    this.#kept?.pieces.push(Uint8Array.from(bytes));
    if (this.#left === 0) this.#extend();
  }

  #header(block: Buffer): void {
    if (!sumFits(block)) throw broken();
    const type = block.toString("latin1", 156, 157);
    const size = sizeIn(block);
    if (type === "S") throw sparse();
    if ("xgLK".includes(type)) {
      if (size > MOST_EXTENDED) throw broken();
      this.#kept = { type, size, pieces: [] };
      this.#left = padded(size);
      if (size === 0) this.#extend();
      return;
    }
    const name = this.#pax.get("path") ?? this.#longName ?? untilNul(block.subarray(0, 100));
    const headerOnly = HEADER_ONLY.includes(type) || (type === "\0" && name.endsWith("/"));
    const told = this.#pax.get("size");
    this.#left = headerOnly ? 0 : padded(told === undefined ? size : decimal(told));
    this.#entries += 1;
    this.#pax = new Map();
    this.#longName = undefined;
  }

  /** What was kept says something about the next entry. */
  #extend(): void {
    const kept = this.#kept;
    if (kept === undefined) return;
    this.#kept = undefined;
    const bytes = Buffer.concat(kept.pieces).subarray(0, kept.size);
    if (kept.type === "L") this.#longName = untilNul(bytes);
    if (kept.type !== "x" && kept.type !== "g") return;
    const records = recordsIn(bytes);
    if ([...records.keys()].some((key) => key.startsWith("GNU.sparse."))) throw sparse();
    if (kept.type === "x") this.#pax = records;
    else if (records.has("size") || records.has("path")) throw broken();
  }
}

const bad = (why: string) => BadImage({ why });
const broken = () => bad("it is no tar of a root file system, or a broken one");
const sparse = () =>
  bad("it has a sparse file, of which nobody knows how large it becomes; pack it without --sparse");

const padded = (size: number): number => Math.ceil(size / BLOCK) * BLOCK;
const untilNul = (bytes: Buffer): string => bytes.toString("utf8").replace(/\0.*$/s, "");

/** Of all bytes, with spaces in place of itself; some programs take them for signed. */
function sumFits(block: Buffer): boolean {
  let [plain, signed] = [0, 0];
  for (let at = 0; at < BLOCK; at += 1) {
    const byte = at >= 148 && at < 156 ? 32 : (block[at] ?? 0);
    plain += byte;
    signed += byte > 127 ? byte - 256 : byte;
  }
  const sum = octal(block.subarray(148, 156));
  return sum === plain || sum === signed;
}

/** Octal digits, or bytes where the first bit is set. */
function sizeIn(block: Buffer): number {
  const field = block.subarray(124, 136);
  if ((field[0] ?? 0) < 128) return octal(field);
  const size = field.subarray(1).reduce((sum, byte) => sum * 256 + byte, (field[0] ?? 0) & 0x7f);
  if (!Number.isSafeInteger(size)) throw broken();
  return size;
}

function octal(field: Buffer): number {
  const digits = /^[ \0]*([0-7]*)[ \0]*$/.exec(field.toString("latin1"))?.[1];
  if (digits === undefined) throw broken();
  return digits === "" ? 0 : Number.parseInt(digits, 8);
}

function decimal(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw broken();
  return Number(text);
}

/** `LENGTH KEY=VALUE\n`, one after the other. */
function recordsIn(bytes: Buffer): ReadonlyMap<string, string> {
  const records = new Map<string, string>();
  for (let at = 0; at < bytes.length; ) {
    const length = Number(/^(\d{1,7}) /.exec(bytes.toString("latin1", at, at + 8))?.[1] ?? 0);
    const record = bytes.toString("utf8", at, at + length);
    const [, key, value] = /^\d+ ([^=]+)=(.*)\n$/s.exec(record) ?? [];
    if (key === undefined || value === undefined || at + length > bytes.length) throw broken();
    records.set(key, value);
    at += length;
  }
  return records;
}
