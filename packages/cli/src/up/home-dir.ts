import { join } from "node:path";
import type { Clock } from "@slipway/kernel/clock";
import { acquireLock, type LockFile, LockTimeout } from "@slipway/kernel/lock-file";
import type { Home } from "../home/home.ts";
import { homeUnusable } from "../home/unusable-home.ts";
import { HomeInUse } from "./errors.ts";

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
