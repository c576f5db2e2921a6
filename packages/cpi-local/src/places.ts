import { createHash } from "node:crypto";
import { access, readdir } from "node:fs/promises";

/** A cid as the name of a directory. Ours are plain; others cannot lead out of the directory or meet one of ours. */
export const place = (cid: string): string =>
  /^[\w-]{1,120}$/.test(cid) ? cid : `other-${createHash("sha256").update(cid).digest("hex")}`;

export async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

export const namesIn = (path: string): Promise<string[]> => readdir(path).catch(() => []);
