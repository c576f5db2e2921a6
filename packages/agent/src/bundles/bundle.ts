import { createHash } from "node:crypto";
import {
  lchown,
  lstat,
  mkdir,
  readdir,
  readlink,
  rename,
  rm,
  rmdir,
  symlink,
  unlink,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import { systemCode } from "@slipway/kernel/errors";
import { exists, ifThere } from "@slipway/kernel/files";
import type { Random } from "@slipway/kernel/random";
import { NameTaken } from "./errors.ts";
import { makeOwned, ownerLike, UNFINISHED } from "./owner.ts";
import { removeTree } from "./remove-tree.ts";

/** Jobs or packages: every version that is unpacked has a directory, the one in use has a link. */
export interface Collection {
  readonly installed: string;
  readonly enabled: string;
}

/** One version of a job or package. It is installed when its directory is there: that comes into being whole. */
export interface Bundle {
  readonly name: string;
  readonly directory: string;
  readonly link: string;
}

/** Returns the bundle of a version. Its directory is named by the digest of the version, as upstream names it. */
export function bundleOf({ installed, enabled }: Collection, name: string, version: string): Bundle {
  const digest = createHash("sha1").update(version).digest("hex");
  return { name, directory: join(installed, name, digest), link: join(enabled, name) };
}

export const isInstalled = (bundle: Bundle): Promise<boolean> => exists(bundle.directory);

/** An empty directory to unpack into. */
export async function makeStaging({ installed }: Collection, random: Random): Promise<string> {
  const directory = join(installed, `${UNFINISHED}${random.hex(8)}`);
  await mkdir(directory, { recursive: true, mode: 0o755 });
  const owner = await ownerLike(installed);
  if (owner !== undefined) await lchown(directory, owner.uid, owner.gid);
  return directory;
}

/** Installs a bundle with one rename. The content of `staging` must be on the disk before. */
export async function install(bundle: Bundle, staging: string): Promise<void> {
  const parent = dirname(bundle.directory);
  const { mode, uid, gid } = await lstat(staging);
  await makeOwned(parent, mode & 0o777, { uid, gid });
  await rename(staging, bundle.directory);
}

/** Refuses a bundle whose link would replace something that is not a link, and so not the agent's. */
export async function mayEnable({ link }: Bundle): Promise<void> {
  const found = await ifThere(lstat(link));
  if (found !== undefined && !found.isSymbolicLink()) throw NameTaken({ path: link });
}

/** Readers find the old version or the new one; there is always one of them. */
export async function enable(bundle: Bundle, random: Random): Promise<void> {
  const { link, directory } = bundle;
  await mayEnable(bundle);
  if ((await ifThere(readlink(link))) === directory) return;
  await mkdir(dirname(link), { recursive: true, mode: 0o755 });
  const temporary = join(dirname(link), `${UNFINISHED}${random.hex(8)}`);
  try {
    await symlink(directory, temporary);
    await rename(temporary, link);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Removes links to versions other than these. Links that point elsewhere are not the agent's and stay. */
export async function disableOthers(collection: Collection, keep: readonly Bundle[]): Promise<void> {
  const names = new Set(keep.map(({ name }) => name));
  for (const entry of await entriesOf(collection.enabled)) {
    const path = join(collection.enabled, entry);
    if (names.has(entry) || !(await leadsInto(path, collection.installed))) continue;
    await unlink(path);
  }
}

/** Removes every unpacked version but these. Links to them are gone already. */
export async function uninstallOthers(
  collection: Collection,
  keep: readonly Bundle[],
  random: Random,
): Promise<void> {
  const kept = new Set(keep.map(({ directory }) => directory));
  for (const name of await entriesOf(collection.installed)) {
    if (name.startsWith(".")) continue;
    const home = join(collection.installed, name);
    for (const version of await entriesOf(home)) {
      if (!kept.has(join(home, version))) await uninstall(collection, join(home, version), random);
    }
    await rmdirIfEmpty(home);
  }
}

/** Half a directory must not be taken for a bundle: it loses its name first. */
export async function uninstall(collection: Collection, directory: string, random: Random): Promise<void> {
  const doomed = join(collection.installed, `${UNFINISHED}${random.hex(8)}`);
  if ((await ifThere(rename(directory, doomed).then(() => true))) === undefined) return;
  await removeTree(doomed);
}

/** Removes what a killed agent had begun to unpack, make, link or remove. */
export async function sweepUnfinished(directories: readonly string[]): Promise<void> {
  for (const directory of directories)
    for (const entry of await entriesOf(directory))
      if (entry.startsWith(UNFINISHED)) await removeTree(join(directory, entry));
}

async function leadsInto(path: string, directory: string): Promise<boolean> {
  const found = await ifThere(lstat(path));
  return found?.isSymbolicLink() === true && (await readlink(path)).startsWith(`${directory}/`);
}

const entriesOf = async (directory: string): Promise<readonly string[]> =>
  (await ifThere(readdir(directory))) ?? [];

async function rmdirIfEmpty(directory: string): Promise<void> {
  if ((await entriesOf(directory)).length > 0) return;
  await rmdir(directory).catch((error: unknown) => {
    if (!["ENOENT", "ENOTDIR", "ENOTEMPTY"].includes(systemCode(error) ?? "")) throw error;
  });
}
