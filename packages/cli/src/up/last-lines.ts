import { open, rename, stat } from "node:fs/promises";
import { systemCode } from "@slipway/kernel/errors";

const LARGEST = 4 * 1024 * 1024;
const MOST_READ = 16 * 1024;
const LAST_LINES = 15;

/** A long one makes room for the next; the one before that is let go. */
export async function boundLog(path: string): Promise<void> {
  try {
    if ((await stat(path)).size > LARGEST) await rename(path, `${path}.1`);
  } catch (error) {
    if (systemCode(error) !== "ENOENT") throw error;
  }
}

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
