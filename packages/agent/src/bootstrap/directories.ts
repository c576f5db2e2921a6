import { chmod, lstat, mkdir, readdir, rename, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { ifThere } from "@slipway/kernel/files";
import type { Paths } from "../paths.ts";

/** Upstream's directories below the base, with its modes; jobs, which run as vcap, must get into them. */
export async function makeDirectories(
  paths: Paths,
  giveToJobs: (path: string) => Promise<void>,
): Promise<void> {
  const shared = [join(paths.data, "sys"), join(paths.data, "sys", "log"), join(paths.data, "sys", "run")];
  const own = [paths.blobs, paths.sensitiveBlobs];
  const bundles = [paths.dataJobs, paths.dataPackages, paths.jobs, paths.packages];
  const open = [paths.boshLog, paths.dataTmp, paths.instanceDir, ...bundles];
  for (const directory of open) await made(directory, 0o755);
  for (const directory of shared) await made(directory, 0o750);
  for (const directory of own) await made(directory, 0o700);
  for (const directory of [...shared, ...own, ...bundles]) await giveToJobs(directory);
  await linkSys(paths);
  await removeFetched(paths.dataTmp);
}

/** The mode also of a directory that was there: the umask had its say when it was made. */
async function made(directory: string, mode: number): Promise<void> {
  await mkdir(directory, { recursive: true });
  await chmod(directory, mode);
}

/** `sys` lives on the ephemeral disk. A directory that is in the way is kept: logs may be in it. */
async function linkSys(paths: Paths): Promise<void> {
  const link = join(paths.base, "sys");
  const found = await ifThere(lstat(link));
  if (found?.isSymbolicLink()) return;
  if (found !== undefined) await rename(link, `${link}.before-link`);
  await symlink(join(paths.data, "sys"), link);
}

/** Copies of blobs that the process before this one fetched or packed. */
async function removeFetched(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    if (/^(fetched|compiled)-/.test(name)) await rm(join(directory, name), { force: true });
  }
}
