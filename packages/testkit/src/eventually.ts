import { systemClock } from "@slipway/kernel/clock";
import { toError } from "@slipway/kernel/errors";

const PAUSE_MS = 25;
/** A deadline for what must happen, not a measure of how fast. */
const PATIENCE_MS = 120_000;

/** Asks until there is an answer. What was seen last, or the last error, is told when the time is up. */
export async function eventually<T>(
  what: string,
  probe: () => T | undefined | Promise<T | undefined>,
  withinMs = PATIENCE_MS,
): Promise<T> {
  const giveUp = systemClock.monotonic() + withinMs;
  for (;;) {
    let last = "nothing";
    try {
      const found = await probe();
      if (found !== undefined) return found;
    } catch (error) {
      last = toError(error).message;
    }
    if (systemClock.monotonic() > giveUp)
      throw new Error(`${what}: not within ${withinMs} ms; last: ${last}`);
    await systemClock.sleep(PAUSE_MS);
  }
}
