import { chmod, mkdtemp, readFile, rm, statfs } from "node:fs/promises";
import { join } from "node:path";
import type { ResourceScope } from "./resource-scope.ts";

const MEMORY = "/dev/shm";

/** Makes a directory that is removed at the end: in memory, if there is room and programs may be started from there. */
export function scratchDirectory(owned: ResourceScope, name: string, roomBytes: number): Promise<string> {
  return owned.open(
    () => makeScratch(name, roomBytes),
    (dir) => rm(dir, { recursive: true, force: true }),
  );
}

export async function makeScratch(name: string, roomBytes: number): Promise<string> {
  const { bavail, bsize } = await statfs(MEMORY).catch(() => ({ bavail: 0, bsize: 0 }));
  const mounts = await readFile("/proc/self/mounts", "utf8").catch(() => "");
  const options = mounts.split("\n").find((line) => line.split(" ")[1] === MEMORY);
  const fits = bavail * bsize > roomBytes && options !== undefined && !/\bnoexec\b/.test(options);
  const dir = await mkdtemp(join(fits ? MEMORY : "/var/tmp", `slipway-${name}-`));
  // As root the database servers run as another user, who must get through.
  await chmod(dir, 0o711);
  return dir;
}
