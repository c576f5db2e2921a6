import { rename, stat } from "node:fs/promises";
import { ifThere } from "@slipway/kernel/files";

const LARGEST = 8 << 20;

/** A long one makes room for the next; the one before that is let go. */
export async function boundLog(path: string): Promise<void> {
  const found = await ifThere(stat(path));
  if (found !== undefined && found.size > LARGEST) await ifThere(rename(path, `${path}.1`));
}
