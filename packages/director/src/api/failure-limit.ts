import type { Clock } from "@slipway/kernel/clock";

/** The CLI sends what got a 401 once more, so a mistyped password counts twice. */
const FREE_FAILURES = 10;
const WINDOW_MS = 60_000;
const MOST_WINDOWS = 10_000;
const LONGEST_WAIT_MS = 5000;
const STEP_MS = 250;
/** Of answers that are held back; beyond, who fails is told so at once. */
const MOST_HELD = 200;

interface Window {
  readonly since: number;
  count: number;
}

/** Slows down who fails: each further failure of a name from an address within a minute is answered later. */
export function failureLimit(clock: Clock) {
  const windows = new Map<string, Window>();
  let held = 0;
  const current = (key: string): Window => {
    const found = windows.get(key);
    if (found !== undefined && clock.monotonic() - found.since < WINDOW_MS) return found;
    windows.delete(key);
    // The oldest windows stand first.
    const oldest = windows.size >= MOST_WINDOWS ? windows.keys().next().value : undefined;
    if (oldest !== undefined) windows.delete(oldest);
    const window = { since: clock.monotonic(), count: 0 };
    windows.set(key, window);
    return window;
  };
  return {
    /** Resolves when the failure may be told: `true` if it was one too many to wait with the others. */
    failed: async (key: string): Promise<boolean> => {
      const window = current(key);
      window.count += 1;
      const late = Math.min((window.count - FREE_FAILURES) * STEP_MS, LONGEST_WAIT_MS);
      if (late <= 0) return false;
      if (held >= MOST_HELD) return true;
      held += 1;
      try {
        await clock.sleep(late);
      } finally {
        held -= 1;
      }
      return false;
    },
  };
}
