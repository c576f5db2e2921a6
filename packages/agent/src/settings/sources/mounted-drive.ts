import { mkdir, realpath, rmdir } from "node:fs/promises";
import { join, sep } from "node:path";
import { systemCode, toError } from "@slipway/kernel/errors";
import { SourceFailed } from "../errors.ts";
import { readLimited } from "./file.ts";
import type { SourceTools } from "./source.ts";

/** Reads files of a drive that is mounted for just that, read-only, and is unmounted whatever happens. */
export async function readFromDrive<T>(
  source: string,
  device: string,
  tools: SourceTools,
  signal: AbortSignal,
  use: (read: (path: string) => Promise<string>) => Promise<T>,
): Promise<T> {
  const target = join(tools.paths.boshDir, ".settings-drive");
  await makeMountPoint(target, tools);
  try {
    const options = "ro,nosuid,nodev,noexec";
    const mounted = await tools.exec("mount", ["-o", options, device, target], { signal }).catch((cause) => {
      throw SourceFailed({ source, why: `${device}: ${toError(cause).message}` }, { cause });
    });
    if (mounted.code !== 0) {
      throw SourceFailed({
        source,
        why: `${device} cannot be mounted: ${mounted.stderr.trim().slice(-300)}`,
      });
    }
    try {
      return await use((path) => readInside(source, target, path));
    } finally {
      await unmount(target, tools);
    }
  } finally {
    await rmdir(target).catch(() => undefined);
  }
}

/** A start that was killed in between may have left the drive mounted. */
async function makeMountPoint(target: string, tools: SourceTools): Promise<void> {
  await mkdir(tools.paths.boshDir, { recursive: true });
  try {
    await mkdir(target, { mode: 0o700 });
  } catch (error) {
    if (systemCode(error) !== "EEXIST") throw error;
    await tools.exec("umount", [target]).catch(() => undefined);
  }
}

/** Unmounts a drive without the caller's signal: it must not stay mounted because the caller stopped waiting. */
async function unmount(target: string, tools: SourceTools): Promise<void> {
  const plain = await tools.exec("umount", [target]);
  if (plain.code === 0) return;
  const lazy = await tools.exec("umount", ["-l", target]);
  if (lazy.code !== 0) tools.log.warn(`${target} could not be unmounted: ${plain.stderr.trim().slice(-300)}`);
}

/** A link on the drive must not lead into this system. */
async function readInside(source: string, target: string, path: string): Promise<string> {
  const wanted = join(target, path);
  const real = await realpath(wanted).catch(() => wanted);
  if (!real.startsWith((await realpath(target)) + sep))
    throw SourceFailed({ source, why: `${path} is not on the drive` });
  return await readLimited(`${source} ${path}`, real);
}
