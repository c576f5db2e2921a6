import type { Engine } from "./engine.ts";

export interface ArchiveFile {
  /** Without a leading slash. */
  readonly name: string;
  readonly content: string;
  readonly mode: number;
}

const BLOCK = 512;

/** Puts files into a container, running or not, before anything in it can read them half. */
export async function putFiles(
  engine: Engine,
  container: string,
  files: readonly ArchiveFile[],
  doing: string,
): Promise<void> {
  await engine.run({
    doing,
    method: "PUT",
    path: `/containers/${encodeURIComponent(container)}/archive`,
    query: { path: "/", noOverwriteDirNonDir: "true" },
    body: tarOf(files),
  });
}

/** A tar of files that belong to root, with the directories they are in. */
export function tarOf(files: readonly ArchiveFile[]): Buffer {
  const blocks: Buffer[] = [];
  for (const directory of directoriesOf(files)) blocks.push(header(`${directory}/`, 0, 0o755, "5"));
  for (const { name, content, mode } of files) {
    const bytes = Buffer.from(content, "utf8");
    blocks.push(header(name, bytes.length, mode, "0"), bytes);
    blocks.push(Buffer.alloc((BLOCK - (bytes.length % BLOCK)) % BLOCK));
  }
  return Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]);
}

/** Outermost first. */
function directoriesOf(files: readonly ArchiveFile[]): readonly string[] {
  const all = files.flatMap(({ name }) => {
    const parts = name.split("/").slice(0, -1);
    return parts.map((_, at) => parts.slice(0, at + 1).join("/"));
  });
  return [...new Set(all)].sort();
}

function header(name: string, size: number, mode: number, flag: string): Buffer {
  if (Buffer.byteLength(name) > 100) throw new RangeError("a name of an archive is longer than 100 bytes");
  const block = Buffer.alloc(BLOCK);
  block.write(name, 0);
  block.write(octal(mode, 7), 100);
  block.write(octal(0, 7), 108);
  block.write(octal(0, 7), 116);
  block.write(octal(size, 11), 124);
  block.write(octal(0, 11), 136);
  block.write(" ".repeat(8), 148);
  block.write(flag, 156);
  block.write("ustar\x0000", 257);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${octal(sum, 6)}\0 `, 148);
  return block;
}

const octal = (value: number, digits: number): string => value.toString(8).padStart(digits, "0");
