import { type Clock, systemClock } from "@slipway/kernel/clock";

/** Time in which sleeping takes no time: it is later afterwards all the same. Timers run as usual. */
export function instantClock(): Clock {
  let skipped = 0;
  return {
    now: () => systemClock.now() + skipped,
    monotonic: () => systemClock.monotonic() + skipped,
    sleep: async (ms, signal) => {
      await systemClock.sleep(1, signal);
      skipped += ms;
    },
    after: systemClock.after,
  };
}
