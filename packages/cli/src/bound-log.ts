import { rename, stat } from "node:fs/promises";
import { ifThere } from "@slipway/kernel/files";

const LARGEST = 8 << 20;

/** A long log is set aside, and replaces the one that was set aside before. */
export async function boundLog(path: string): Promise<void> {
  const found = await ifThere(stat(path));
  if (found !== undefined && found.size > LARGEST) await ifThere(rename(path, `${path}.1`));
}
