import type { Clock } from "@slipway/kernel/clock";

/** The CLI sends what got a 401 once more, so a mistyped password counts twice. */
const MOST_FAILURES = 30;
const WINDOW_MS = 60_000;
const MOST_ADDRESSES = 10_000;

interface Window {
  readonly since: number;
  count: number;
}

/** Counts failed logins per address and minute. */
export function failureLimit(clock: Clock) {
  const windows = new Map<string, Window>();
  const current = (address: string): Window | undefined => {
    const window = windows.get(address);
    if (window !== undefined && clock.monotonic() - window.since < WINDOW_MS) return window;
    windows.delete(address);
    return undefined;
  };
  return {
    reached: (address: string): boolean => (current(address)?.count ?? 0) >= MOST_FAILURES,
    note: (address: string): void => {
      const window = current(address);
      if (window !== undefined) {
        window.count += 1;
        return;
      }
      // The oldest windows stand first.
      const oldest = windows.size >= MOST_ADDRESSES ? windows.keys().next().value : undefined;
      if (oldest !== undefined) windows.delete(oldest);
      windows.set(address, { since: clock.monotonic(), count: 1 });
    },
  };
}
