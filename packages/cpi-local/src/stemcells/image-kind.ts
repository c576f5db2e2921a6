import { open } from "node:fs/promises";
import { archiveKind } from "@slipway/kernel/tar/file";
import type { JsonObject } from "@slipway/protocol/schema/json";
import { BadImage } from "../errors.ts";

export type RootImageKind = "host" | "tar" | "tar.gz";

const LONGEST_NOTE = 64 * 1024;

/**
 * Finds out which root file system an image gives its sandboxes. An empty image, `root: host` among the cloud
 * properties, or a text in its place mean the host's; else the image must be a tar.
 */
export async function imageKind(path: string, cloudProperties: JsonObject): Promise<RootImageKind> {
  if (cloudProperties.root === "host") return "host";
  const file = await open(path, "r").catch((cause: unknown) => {
    throw BadImage({ why: `${path} cannot be read` }, { cause });
  });
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(LONGEST_NOTE), 0, LONGEST_NOTE, 0);
    const start = buffer.subarray(0, bytesRead);
    if (bytesRead === 0) return "host";
    const kind = archiveKind(start);
    if (kind !== undefined) return kind;
    if (bytesRead < LONGEST_NOTE && isText(start)) return "host";
  } finally {
    await file.close();
  }
  throw BadImage({ why: "it is neither a tar nor a tar.gz of a root file system" });
}

function isText(bytes: Uint8Array): boolean {
  try {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a text does not have
    return !/[\0-\x08\x0e-\x1f]/.test(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return false;
  }
}
