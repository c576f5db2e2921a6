import { readdir, readFile, truncate, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Provisioning } from "@slipway/cpi-sdk/provisioning";
import { ifThere } from "@slipway/kernel/files";
import { DiskCommandFailed } from "../errors.ts";
import type { LocalCloud } from "../local-cloud.ts";
import { allocate } from "./allocate.ts";
import { runOn } from "./run-on.ts";

const MIB = 1024 * 1024;
/** How e2fsck ends when all is well again. */
const REPAIRED = 1;

/** A file with an empty ext4 file system, as large as the disk: there is no more room than that. */
export async function makeImage(
  cloud: LocalCloud,
  disk: string,
  image: string,
  sizeMib: number,
  provisioning: Provisioning,
): Promise<void> {
  await writeFile(image, "", { mode: 0o600 });
  await truncate(image, sizeMib * MIB);
  const options = ["-q", "-F", "-m", "0", "-E", "nodiscard,root_owner=0:0", image];
  await runOn(cloud, disk, "making a file system", ["mkfs.ext4", ...options]);
  if (provisioning === "preallocated") await allocate(cloud, disk, image, sizeMib);
}

/** Grows a file system that is not mounted. */
export async function growImage(
  cloud: LocalCloud,
  disk: string,
  image: string,
  sizeMib: number,
  provisioning: Provisioning,
): Promise<void> {
  await runOn(cloud, disk, "checking the file system", ["e2fsck", "-f", "-p", image], REPAIRED);
  if (provisioning === "preallocated") await allocate(cloud, disk, image, sizeMib);
  else await truncate(image, sizeMib * MIB);
  await runOn(cloud, disk, "growing the file system", ["resize2fs", image]);
}

const LOOP_GONE_WITHIN_MS = 10_000;

/** Loop devices that still show this file. None is made but by a mount, and it goes with the last one. */
export async function loopsOf(cloud: LocalCloud, image: string): Promise<string[]> {
  if ((await loopsNamed(image))?.length === 0) return [];
  const listed = await cloud.exec("losetup", ["--noheadings", "--output", "NAME", "--associated", image]);
  return listed.code === 0
    ? listed.stdout
        .split("\n")
        .map((line) => line.trim())
        .filter((line) => line !== "")
    : [];
}

const BLOCK_DEVICES = "/sys/block";

/**
 * The loop devices that show a file of this name: that of the disk's directory, which no other disk has, and its own. Only
 * if there are some it is worth a process to have losetup compare inodes. Undefined: that cannot be read, which is not none.
 */
async function loopsNamed(image: string): Promise<readonly string[] | undefined> {
  const tail = `/${basename(dirname(image))}/${basename(image)}`;
  try {
    const names = (await readdir(BLOCK_DEVICES)).filter((name) => name.startsWith("loop"));
    const shown = await Promise.all(
      names.map((name) => ifThere(readFile(join(BLOCK_DEVICES, name, "loop", "backing_file"), "utf8"))),
    );
    return names.filter((_, at) =>
      shown[at]
        ?.replace(/\n$/, "")
        .replace(/ \(deleted\)$/, "")
        .endsWith(tail),
    );
  } catch {
    return undefined;
  }
}

/**
 * The loop device of this file passes on nothing that its file system does not need any more: that makes holes in the file,
 * and so does the kernel when it writes zeros. The device keeps this until it is removed or the host restarts, whoever has
 * it next. Where it cannot be said, as in a container, the disk may get holes.
 */
export async function keepSpace(image: string): Promise<void> {
  for (const name of (await loopsNamed(image)) ?? []) {
    const limit = join(BLOCK_DEVICES, name, "queue", "discard_max_bytes");
    // Writing the limit takes a device long, even if it has that limit already.
    if ((await readFile(limit, "utf8").catch(() => "")).trim() !== "0")
      await writeFile(limit, "0").catch(() => {});
  }
}

/**
 * Waits for the end of a mount that is just going, and lets go of a device that is not mounted. `unless` tells of a
 * mount that is just coming, and wanted. Returns whether the device is gone.
 */
export async function mustBeLetGo(
  cloud: LocalCloud,
  disk: string,
  image: string,
  unless: () => Promise<boolean> = async () => false,
): Promise<boolean> {
  const since = cloud.clock.monotonic();
  for (;;) {
    const loops = await loopsOf(cloud, image);
    if (loops.length === 0) return true;
    if (await unless()) return false;
    // Of one that is mounted somewhere this only says that it is to go with its last mount.
    for (const loop of loops) await cloud.exec("losetup", ["--detach", loop]);
    if (cloud.clock.monotonic() - since > LOOP_GONE_WITHIN_MS)
      throw DiskCommandFailed({
        disk,
        doing: "waiting until it is free",
        said: `${loops.join(", ")} shows it`,
      });
    await cloud.clock.sleep(20);
  }
}
