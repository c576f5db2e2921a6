import { gzipSync } from "node:zlib";

/** A file of an archive; what is below `bin` need not be executable, agents see to that. */
export interface ArchiveFile {
  readonly path: string;
  readonly content: string;
  readonly mode?: number;
}

const BLOCK = 512;

/** A gzipped tar of plain files and their directories. Written here, so that no agent is judged by its own code. */
export function archiveOf(files: readonly ArchiveFile[], prefix = ""): Buffer {
  const directories = new Set<string>();
  for (const { path } of files) {
    const parts = path.split("/").slice(0, -1);
    for (const at of parts.keys()) directories.add(`${parts.slice(0, at + 1).join("/")}/`);
  }
  const blocks = [
    ...[...directories].sort().map((path) => header(`${prefix}${path}`, 0o755, 0, "5")),
    ...files.flatMap(({ path, content, mode = 0o644 }) => {
      const data = Buffer.from(content);
      const padding = Buffer.alloc((BLOCK - (data.length % BLOCK)) % BLOCK);
      return [header(`${prefix}${path}`, mode, data.length, "0"), data, padding];
    }),
    Buffer.alloc(2 * BLOCK),
  ];
  return gzipSync(Buffer.concat(blocks));
}

function header(path: string, mode: number, size: number, type: "0" | "5"): Buffer {
  const block = Buffer.alloc(BLOCK);
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, "0")}\0`;
  block.write(path, 0, 100, "utf8");
  block.write(octal(mode, 7), 100);
  block.write(octal(0, 7), 108);
  block.write(octal(0, 7), 116);
  block.write(octal(size, 11), 124);
  block.write(octal(0, 11), 136);
  block.write(" ".repeat(8), 148);
  block.write(type, 156);
  block.write("ustar\0", 257);
  block.write("00", 263);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return block;
}
