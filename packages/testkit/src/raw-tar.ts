/** One entry of a tar as somebody with bad intentions writes it; nothing is checked. */
export interface RawEntry {
  readonly name: string;
  /** The letter of the format: 0 file, 1 hard link, 2 link, 3 character device, 4 block device, 5 directory, 6 FIFO. */
  readonly type?: string;
  readonly link?: string;
  readonly content?: string;
  readonly mode?: number;
  readonly uid?: number;
  /** Size in the header, if it is not the true one; text is written as it is. */
  readonly size?: number | string;
  readonly device?: readonly [major: number, minor: number];
}

const BLOCK = 512;
const octal = (value: number, digits: number) => value.toString(8).padStart(digits, "0");

function blocksOf(entry: RawEntry): Buffer {
  const content = Buffer.from(entry.content ?? "");
  const { size = content.length, device = [0, 0], mode = 0o755, uid = 0 } = entry;
  const block = Buffer.alloc(BLOCK);
  block.write(entry.name, 0, 100);
  block.write(`${octal(mode, 7)}\0${octal(uid, 7)}\0${octal(0, 7)}\0`, 100);
  block.write(typeof size === "number" ? octal(size, 11) : size, 124, 12, "latin1");
  block.write(`${octal(0, 11)}\0        ${entry.type ?? "0"}${entry.link ?? ""}`, 136);
  block.write("ustar\x0000", 257);
  block.write(`${octal(device[0], 7)}\0${octal(device[1], 7)}\0`, 329);
  block.write(
    `${octal(
      block.reduce((sum, byte) => sum + byte, 0),
      6,
    )}\0 `,
    148,
  );
  return Buffer.concat([block, content, Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK)]);
}

export const END = Buffer.alloc(2 * BLOCK);

export const rawTar = (entries: readonly RawEntry[]): Buffer =>
  Buffer.concat([...entries.map(blocksOf), END]);

/** The name of the next entry, as GNU tar writes one that is too long for a header. */
export const longName = (name: string): RawEntry => ({
  name: "././@LongLink",
  type: "L",
  content: `${name}\0`,
});

/** A record about the next entry. */
export function pax(records: Readonly<Record<string, string>>, type = "x"): RawEntry {
  const lines = Object.entries(records).map(([key, value]) => {
    const rest = ` ${key}=${value}\n`;
    const length = [1, 2, 3].map((digits) => digits + rest.length).find((n) => `${n}${rest}`.length === n);
    return `${length}${rest}`;
  });
  return { name: "PaxHeader", type, content: lines.join("") };
}
