import { chmod, mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Clock } from "@slipway/kernel/clock";
import { acquireLock, type LockFile, LockTimeout } from "@slipway/kernel/lock-file";
import type { Home } from "../home/home.ts";
import { homeUnusable } from "../home/unusable-home.ts";
import { HomeInUse } from "./errors.ts";

/** Makes the directories that are not there. Those that are keep their modes. */
export async function makeHome(home: Home, uid: number): Promise<void> {
  // Root's database runs as another user: it may pass through, and see nothing.
  const mode = uid === 0 ? 0o711 : 0o700;
  try {
    const first = await mkdir(home.dir, { recursive: true, mode });
    // What was made on the way too, whatever the umask.
    for (let at = home.dir; first !== undefined && at.length >= first.length; at = dirname(at))
      await chmod(at, mode);
  } catch (cause) {
    throw await homeUnusable(home, cause);
  }
}

const WAIT_MS = 500;

/** The lock of the process that runs a home's Director, or stops it. */
export const lockOf = (home: Home): string => join(home.dir, "up.lock");

/** One process at a time starts or stops what belongs to a home. */
export async function lockHome(home: Home, clock: Clock): Promise<LockFile> {
  try {
    return await acquireLock(lockOf(home), { clock, waitMs: WAIT_MS, waitForUnseenMs: WAIT_MS });
  } catch (cause) {
    const busy = LockTimeout.paramsOf(cause);
    if (busy !== undefined) throw HomeInUse({ dir: home.dir, holder: busy.holder }, { cause });
    throw await homeUnusable(home, cause);
  }
}
