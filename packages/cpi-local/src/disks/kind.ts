import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomic } from "@slipway/kernel/atomic-file";
import { ownIdentity } from "@slipway/kernel/process-identity";
import { NoLoopDisks } from "../errors.ts";
import { type LocalCloud, locked } from "../local-cloud.ts";
import { makeImage } from "./image.ts";

export type DiskKind = "directory" | "loop";

/** Returns the kind that a new disk gets. A disk keeps the kind it was made with. */
export async function kindOfNewDisk(cloud: LocalCloud): Promise<DiskKind> {
  if (cloud.diskKind === "directory") return "directory";
  const trouble = await loopTrouble(cloud);
  if (trouble === undefined) return "loop";
  if (cloud.diskKind === "loop") throw NoLoopDisks({ why: trouble });
  return "directory";
}

/** Why loop disks do not work here; found out by making one, once for each start of the host. */
export async function loopTrouble(cloud: LocalCloud): Promise<string | undefined> {
  if (!cloud.isRoot) return "only root may mount loop devices";
  const file = join(cloud.dir, "loop-disks.json");
  const { boot } = ownIdentity();
  return await locked(cloud, "loop-disks", async () => {
    const known = await readFile(file, "utf8").then(
      (text) => JSON.parse(text) as { boot?: string; trouble?: string },
      () => undefined,
    );
    if (known?.boot === boot) return known.trouble;
    const trouble = await tryLoop(cloud);
    await writeFileAtomic(file, JSON.stringify({ boot, trouble }));
    return trouble;
  });
}

/** In mounts of its own, which end with it and let go of the device. */
const TRY = 'mount -n -t ext4 -o loop "$1/image" "$1/at" && : > "$1/at/file"';

async function tryLoop(cloud: LocalCloud): Promise<string | undefined> {
  const dir = join(cloud.dir, "loop-try");
  await rm(dir, { recursive: true, force: true });
  try {
    await mkdir(join(dir, "at"), { recursive: true, mode: 0o700 });
    await writeFile(join(dir, "image"), "");
    await makeImage(cloud, "the trial", join(dir, "image"), 8, "thin");
    const tried = await cloud.exec("unshare", ["--mount", "sh", "-c", TRY, "sh", dir]);
    return tried.code === 0 ? undefined : tried.stderr.trim().slice(-500) || `mount ended with ${tried.code}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
