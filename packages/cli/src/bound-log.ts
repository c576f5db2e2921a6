import { rename, stat } from "node:fs/promises";
import { systemCode } from "@slipway/kernel/errors";

const LARGEST = 8 << 20;

/** A long one makes room for the next; the one before that is let go. */
export async function boundLog(path: string): Promise<void> {
  try {
    if ((await stat(path)).size > LARGEST) await rename(path, `${path}.1`);
  } catch (error) {
    if (systemCode(error) !== "ENOENT") throw error;
  }
}
