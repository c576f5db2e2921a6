import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@slipway/kernel/clock";
import { acquireLock } from "@slipway/kernel/lock-file";

/**
 * One suite at a time mounts real devices or makes mount namespaces. A new namespace copies the mounts of that moment
 * and keeps their devices busy, whoever unmounts them elsewhere: suites that run side by side would trip each other.
 * How long it waits is up to the test.
 */
export async function holdMachine(): Promise<() => Promise<void>> {
  const path = join(tmpdir(), `slipway-machine-${process.getuid?.() ?? 0}.lock`);
  const lock = await acquireLock(path, { clock: systemClock, waitMs: Number.POSITIVE_INFINITY });
  return () => lock.release();
}
