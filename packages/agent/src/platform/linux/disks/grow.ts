import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { CommandFailed, type ExecResult, mustRun } from "@slipway/kernel/exec";
import type { Paths } from "../../../paths.ts";
import { DeviceSmaller } from "../../disk-errors.ts";
import type { BlockDevice } from "./block-device.ts";
import type { DiskContext } from "./context.ts";
import { type MountEntry, mountTable } from "./mounts.ts";
import { GROW_SLACK } from "./partition.ts";
import type { Superblock } from "./superblock.ts";

const FREE_WITHIN_MS = 30_000;

/** Mount point for a file system while it grows. */
export const growTarget = (paths: Paths): string => join(paths.boshDir, "disk_grow");

/**
 * Grows a file system to its device. Online where the kernel lets us: the kernel journals it, so that a crash in the
 * middle loses nothing. Containers may lack CAP_SYS_RESOURCE, which ext4 asks for; then offline, after a check.
 */
export async function growFileSystem(
  context: DiskContext,
  device: BlockDevice,
  found: Superblock,
): Promise<void> {
  if (found.bytes > device.bytes) {
    const what = `the ${found.type} file system`;
    throw DeviceSmaller({ device: device.path, has: device.bytes, needs: found.bytes, what });
  }
  if (device.bytes - found.bytes <= GROW_SLACK || device.readOnly) return;
  context.log.info(
    `growing the ${found.type} file system on ${device.path} from ${found.bytes} to ${device.bytes} bytes`,
  );
  const target = growTarget(context.paths);
  const doing = `growing the file system on ${device.path}`;
  await mkdir(target, { recursive: true, mode: 0o700 });
  await mustRun(context.exec, doing, "mount", [
    "-t",
    found.type,
    "-o",
    "nosuid,nodev,noexec",
    device.path,
    target,
  ]);
  let offline = false;
  try {
    if (found.type === "xfs") {
      await mustRun(context.exec, doing, "xfs_growfs", [target]);
    } else {
      const grown = await context.exec("resize2fs", [device.path]);
      offline = grown.code !== 0 && /permission denied|not permitted|not supported/i.test(grown.stderr);
      if (grown.code !== 0 && !offline) throw CommandFailed({ ...grown, doing });
    }
  } finally {
    await mustRun(context.exec, doing, "umount", [target]);
  }
  if (offline) await growOffline(context, device, doing);
}

async function growOffline(context: DiskContext, device: BlockDevice, doing: string): Promise<void> {
  context.log.info(`${doing}: the kernel does not let us do it online, so it is done offline`);
  const checked = await checkedOnceFree(context, device);
  // 1: it repaired something and all is well now.
  if (checked.code > 1) throw CommandFailed({ ...checked, doing: `${doing}, checking it first` });
  await mustRun(context.exec, doing, "resize2fs", [device.path]);
}

/** A mount namespace that was made a moment ago has a mount of it, too, until it lets go of what it does not need. */
async function checkedOnceFree({ exec, clock }: DiskContext, device: BlockDevice): Promise<ExecResult> {
  const until = clock.monotonic() + FREE_WITHIN_MS;
  for (let wait = 20; ; wait = Math.min(1_000, wait * 2)) {
    const checked = await exec("e2fsck", ["-f", "-p", device.path]);
    const inUse = checked.code === 8 && /is in use/.test(checked.stdout);
    if (!inUse || clock.monotonic() >= until) return checked;
    await clock.sleep(wait);
  }
}

/** Undoes what an agent killed while growing left behind. Resolves to the mount table as it is then. */
export async function releaseGrowMount(context: DiskContext): Promise<readonly MountEntry[]> {
  const target = growTarget(context.paths);
  const table = await mountTable(context.paths);
  const left = table.filter((mount) => mount.target === target);
  for (const _ of left) await mustRun(context.exec, `unmounting ${target}`, "umount", [target]);
  return left.length === 0 ? table : await mountTable(context.paths);
}
