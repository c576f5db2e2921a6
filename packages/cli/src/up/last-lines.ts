import { open } from "node:fs/promises";

const MOST_READ = 16 * 1024;
const LAST_LINES = 15;

/** The end of what was written since `from`. */
export async function lastLines(path: string, from: number): Promise<string> {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    const start = Math.max(from, size - MOST_READ);
    const { buffer, bytesRead } = await file.read(
      Buffer.alloc(Math.max(size - start, 0)),
      0,
      undefined,
      start,
    );
    const lines = buffer.toString("utf8", 0, bytesRead).trimEnd().split("\n").slice(-LAST_LINES);
    return lines.map((line) => `  ${line}`).join("\n");
  } finally {
    await file.close();
  }
}
