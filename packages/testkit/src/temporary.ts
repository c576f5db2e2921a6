import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const MEMORY = "/dev/shm";
/** Free space that is well above what the tests of a run keep at the same time. */
const ENOUGH = 4 * 2 ** 30;

/** A directory of the test's own, gone when `remove` is called. */
export async function temporaryDirectory(): Promise<{ path: string; remove: () => Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), "slipway-kernel-"));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

/** Returns a directory that other users can pass through: root's database runs as another user. */
export const passablePlace = (): string =>
  process.getuid?.() === 0 && tmpdir() !== MEMORY ? "/var/tmp" : tmpdir();

/** Makes a directory that other users can pass through. */
export async function passableDirectory(name: string): Promise<string> {
  const path = await mkdtemp(join(passablePlace(), `slipway-${name}-`));
  await chmod(path, 0o711);
  return path;
}

/**
 * Temporary files of a run are in memory where there is room, and where programs may be started from: databases are copied
 * there for a fifth of the processor time, and nothing waits for a disk.
 */
export function useMemory(): void {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    if (bavail * bsize < ENOUGH || !runsPrograms(MEMORY)) return;
  } catch {
    return;
  }
  process.env.TMPDIR = MEMORY;
}

function runsPrograms(place: string): boolean {
  const dir = mkdtempSync(join(place, "slipway-tried-"));
  try {
    writeFileSync(join(dir, "program"), "#!/bin/sh\n", { mode: 0o755 });
    return spawnSync(join(dir, "program")).status === 0;
  } finally {
    rmSync(dir, { recursive: true });
  }
}
