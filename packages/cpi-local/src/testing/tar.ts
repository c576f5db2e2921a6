const FLAGS = { file: "0", link: "1", symlink: "2", device: "3", directory: "5", fifo: "6" } as const;

export interface Packed {
  readonly name: string;
  readonly type: keyof typeof FLAGS;
  readonly body?: string;
  readonly linkName?: string;
  readonly mode?: number;
  readonly uid?: number;
}

/** Writes any tar, also those that no program would. */
export function tarOf(entries: readonly Packed[]): Buffer {
  return Buffer.concat([...entries.flatMap(entryOf), Buffer.alloc(1024)]);
}

function entryOf(entry: Packed): Buffer[] {
  const long = Buffer.byteLength(entry.name) > 100;
  const body = Buffer.from(entry.body ?? "");
  const name = Buffer.from(`${entry.name}\0`);
  return [
    ...(long ? [header({ name: "././@LongLink", type: "file" }, name.length, "L"), padded(name)] : []),
    header(entry, body.length, FLAGS[entry.type]),
    padded(body),
  ];
}

function header(entry: Packed, size: number, flag: string): Buffer {
  const block = Buffer.alloc(512);
  const octal = (at: number, length: number, value: number) =>
    block.write(value.toString(8).padStart(length - 1, "0"), at, "latin1");
  block.write(entry.name.slice(0, 100), 0);
  octal(100, 8, entry.mode ?? 0o755);
  octal(108, 8, entry.uid ?? 0);
  octal(116, 8, 0);
  octal(124, 12, size);
  octal(136, 12, 0);
  block.write(flag, 156);
  block.write((entry.linkName ?? "").slice(0, 100), 157);
  block.write("ustar\x0000", 257, "latin1");
  block.fill(0x20, 148, 156);
  octal(
    148,
    7,
    block.reduce((sum, byte) => sum + byte, 0),
  );
  block[154] = 0;
  return block;
}

const padded = (body: Buffer): Buffer =>
  Buffer.concat([body, Buffer.alloc((512 - (body.length % 512)) % 512)]);
