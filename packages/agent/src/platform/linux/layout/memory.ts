import { join } from "node:path";
import { writeFileAtomic } from "@slipway/kernel/atomic-file";
import { mustRun } from "@slipway/kernel/exec";
import { exists } from "@slipway/kernel/files";
import type { MemoryRequest } from "../../platform.ts";
import { BadTmpfsSize, SecondBoot } from "../../system-errors.ts";
import type { DiskContext } from "../disks/context.ts";
import { mountAt, mountTable } from "../disks/mounts.ts";
import { ownedDirectory } from "./owned.ts";

/** Upstream's sizes. */
const RUN_SIZE = "16m";
const JOBS_SIZE = "100m";

/** Mounts tmpfs for files that must not survive a reboot, or must not touch a disk. */
export async function setUpMemory(context: DiskContext, request: MemoryRequest): Promise<void> {
  const { paths } = context;
  await tmpfs(context, join(paths.data, "sys", "run"), request.runSize ?? RUN_SIZE, 0o750);
  if (request.jobs) {
    const size = request.jobsSize ?? JOBS_SIZE;
    await tmpfs(context, join(paths.data, "jobs"), size, 0o750);
    await tmpfs(context, paths.sensitiveBlobs, size, 0o700);
  }
  if (request.jobs || request.settings) await bootOnce(context);
}

async function tmpfs(context: DiskContext, path: string, size: string, mode: number): Promise<void> {
  const { paths, exec } = context;
  // It becomes part of a list of mount options.
  if (!/^\d+[kmg%]?$/i.test(size)) throw BadTmpfsSize({ path, size });
  await ownedDirectory(paths, path, mode, "vcap");
  if (mountAt(await mountTable(paths), path) !== undefined) return;
  const options = `size=${size},mode=${mode.toString(8).padStart(4, "0")},nosuid,nodev`;
  await mustRun(exec, `keeping ${path} in memory`, "mount", ["-t", "tmpfs", "-o", options, "tmpfs", path]);
  await ownedDirectory(paths, path, mode, "vcap");
}

/**
 * A VM that keeps jobs or settings in memory has lost them with a reboot, and must be recreated. One mark on the disk
 * says that it was started, another one in memory that it has not been rebooted since.
 */
async function bootOnce(context: DiskContext): Promise<void> {
  const { boshDir } = context.paths;
  const kept = join(boshDir, "bootonce");
  const inMemory = join(boshDir, "canrestart");
  const lost = join(inMemory, "bootonce");
  await tmpfs(context, inMemory, RUN_SIZE, 0o740);
  if ((await exists(kept)) && !(await exists(lost))) throw SecondBoot({});
  // This one first: should the agent die between the two, that was no reboot.
  await writeFileAtomic(lost, "");
  await writeFileAtomic(kept, "");
}
