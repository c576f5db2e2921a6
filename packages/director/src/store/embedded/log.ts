import { type FileHandle, open, stat, truncate, writeFile } from "node:fs/promises";
import { systemCode } from "@slipway/kernel/errors";

const LARGEST = 4 * 1024 * 1024;
const KEPT = 1024 * 1024;

export const logSize = async (log: string): Promise<number> => {
  try {
    return (await stat(log)).size;
  } catch (error) {
    if (systemCode(error) === "ENOENT") return 0;
    throw error;
  }
};

/** Returns the log from `from` on, at most `most` bytes of its end. */
export async function logFrom(log: string, from: number, most = 4000): Promise<Buffer> {
  let file: FileHandle | undefined;
  try {
    file = await open(log, "r");
    const { size } = await file.stat();
    const start = Math.max(Math.min(from, size), size - most);
    const buffer = Buffer.alloc(size - start);
    const { bytesRead } = await file.read(buffer, 0, buffer.length, start);
    return buffer.subarray(0, bytesRead);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return Buffer.alloc(0);
    throw error;
  } finally {
    await file?.close();
  }
}

/** The last words, for an error message. */
export const lastWords = async (log: string, from: number): Promise<string> =>
  (await logFrom(log, from)).toString("utf8").trim().split("\n").slice(-6).join("; ") || "it said nothing";

/** Keeps the log short while the server goes on writing to it: it appends, so the file can be cut under it. */
export async function boundLog(log: string): Promise<void> {
  if ((await logSize(log)) <= LARGEST) return;
  await writeFile(`${log}.1`, await logFrom(log, 0, KEPT), { mode: 0o600 });
  await truncate(log, 0);
}
