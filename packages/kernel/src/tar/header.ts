/** The blocks of a tar as bytes: what its reader understands, and in the formats that are about: v7, ustar, GNU, pax. */

export const BLOCK = 512;

export const TAR_TYPES = {
  "0": "file",
  "\0": "file",
  "7": "file",
  "1": "link",
  "2": "symlink",
  "3": "character-device",
  "4": "block-device",
  "5": "directory",
  "6": "fifo",
} as const;

/** How many bytes are missing to a whole block. */
export const padding = (size: number): number => (BLOCK - (size % BLOCK)) % BLOCK;

const DAMAGED_NUMBER = "it is damaged, or no tar (a number is none)";

/** Reads the fields of one header; `refuse` makes the error for what cannot be read. */
export class TarHeader {
  readonly #block: Buffer;
  readonly #refuse: (why: string) => Error;

  constructor(block: Buffer, refuse: (why: string) => Error) {
    this.#block = block;
    this.#refuse = refuse;
    if (!this.#sumFits()) throw refuse("it is damaged, or no tar (a checksum is wrong)");
  }

  get flag(): string {
    return this.#block.toString("latin1", 156, 157);
  }

  get name(): string {
    const prefix = this.#block.toString("latin1", 257, 263) === "ustar\0" ? this.#text(345, 155) : "";
    return prefix === "" ? this.#text(0, 100) : `${prefix}/${this.#text(0, 100)}`;
  }

  get linkName(): string {
    return this.#text(157, 100);
  }

  get mode(): number {
    return this.#natural(100, 8) & 0o7777;
  }

  get uid(): number {
    return this.#natural(108, 8);
  }

  get gid(): number {
    return this.#natural(116, 8);
  }

  get size(): number {
    return this.#natural(124, 12);
  }

  /** Before 1970 too. */
  get mtime(): number {
    return this.#number(136, 12);
  }

  /** Checks the sum of all bytes, with spaces in place of the sum itself. Some programs sum signed bytes. */
  #sumFits(): boolean {
    let [plain, signed] = [0, 0];
    for (let at = 0; at < BLOCK; at += 1) {
      const byte = at >= 148 && at < 156 ? 0x20 : (this.#block[at] ?? 0);
      plain += byte;
      signed += byte > 127 ? byte - 256 : byte;
    }
    const sum = this.#number(148, 8);
    return sum === plain || sum === signed;
  }

  #text(at: number, length: number): string {
    return untilNul(this.#block.subarray(at, at + length));
  }

  #natural(at: number, length: number): number {
    const value = this.#number(at, length);
    if (value < 0) throw this.#refuse(DAMAGED_NUMBER);
    return value;
  }

  /** Octal digits, or for what does not fit the bytes themselves, marked by the first bit. */
  #number(at: number, length: number): number {
    const field = this.#block.subarray(at, at + length);
    if (((field[0] ?? 0) & 0x80) !== 0) {
      const bits = BigInt.asIntN(8 * length - 1, BigInt(`0x${field.toString("hex")}`));
      if (bits > Number.MAX_SAFE_INTEGER || bits < Number.MIN_SAFE_INTEGER)
        throw this.#refuse(DAMAGED_NUMBER);
      return Number(bits);
    }
    const found = /^[ \0]*(?:([0-7]+)[ \0]*)?$/.exec(field.toString("latin1"));
    if (found === null) throw this.#refuse(DAMAGED_NUMBER);
    return found[1] === undefined ? 0 : Number.parseInt(found[1], 8);
  }
}

export function untilNul(bytes: Buffer): string {
  const end = bytes.indexOf(0);
  return bytes.toString("utf8", 0, end < 0 ? bytes.length : end);
}
