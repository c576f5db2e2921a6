import { readFile, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { type SlipwayError, systemCode } from "@slipway/kernel/errors";
import { HomeUnusable } from "./errors.ts";
import type { Home } from "./home.ts";

/** Says whose the directory is: most often another user's, of an earlier `sudo`. */
export async function homeUnusable(home: Home, cause: unknown): Promise<SlipwayError> {
  const why = systemCode(cause) ?? "it cannot be written to";
  const owner = ["EACCES", "EPERM"].includes(why) ? await ownerOf(home.dir) : undefined;
  const whose =
    owner === undefined ? "" : `: it belongs to ${owner}, and you are ${await nameOf(process.getuid?.())}`;
  return HomeUnusable({ dir: home.dir, why: `${why}${whose}` }, { cause });
}

/** Returns the owner of the directory, or of the nearest existing one above it. */
async function ownerOf(dir: string): Promise<string | undefined> {
  for (let at = dir; ; at = dirname(at)) {
    const found = await stat(at).catch(() => undefined);
    if (found !== undefined) return await nameOf(found.uid);
    if (at === dirname(at)) return undefined;
  }
}

async function nameOf(uid: number | undefined): Promise<string> {
  const users = await readFile("/etc/passwd", "utf8").catch(() => "");
  const line = users.split("\n").find((one) => one.split(":")[2] === String(uid));
  return line?.split(":")[0] ?? `the user ${uid}`;
}
