import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Clock, systemClock } from "@slipway/kernel/clock";
import { onTestFinished } from "vitest";

/** A directory of the test's own. */
export async function tempDir(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "slipway-cpi-sdk-"));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

/** A promise and the means to settle it. */
export function latch<T = void>() {
  let open: (value: T) => void = () => {};
  const opened = new Promise<T>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

/** Time in which the pause before another try takes none; deadlines and longer waits are real. */
export const quickClock: Clock = {
  ...systemClock,
  sleep: (ms, signal) => systemClock.sleep(ms < 5000 ? 0 : ms, signal),
};

/** A deadline for what must happen, not a measure of how fast. */
const PATIENCE_MS = 120_000;

/** Asks until the answer is there; for what only another process knows. */
export async function until<T>(what: string, look: () => T | undefined | Promise<T | undefined>): Promise<T> {
  const end = performance.now() + PATIENCE_MS;
  for (;;) {
    const seen = await look();
    if (seen !== undefined) return seen;
    if (performance.now() > end) throw new Error(`waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
