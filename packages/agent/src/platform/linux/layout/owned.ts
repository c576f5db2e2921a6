import { constants } from "node:fs";
import { chmod, lchown, mkdir, open } from "node:fs/promises";
import type { Paths } from "../../../paths.ts";
import { groups } from "../system/accounts.ts";

/** A directory of root's and this group's. On a machine without the group it is root's alone. */
export async function ownedDirectory(
  paths: Paths,
  path: string,
  mode: number,
  group = "root",
): Promise<void> {
  await mkdir(path, { recursive: true });
  await lchown(path, 0, await groupId(paths, group));
  await chmod(path, mode);
}

/** The same for a file; what it holds is kept. */
export async function ownedFile(paths: Paths, path: string, mode: number, group: string): Promise<void> {
  const file = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW, mode);
  try {
    await file.chown(0, await groupId(paths, group));
    await file.chmod(mode);
  } finally {
    await file.close();
  }
}

const groupId = async (paths: Paths, group: string) => (await groups(paths)).get(group) ?? 0;
