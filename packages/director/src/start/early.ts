import type { Clock } from "@slipway/kernel/clock";

/** Delay after which the database's process is under way and this one is idle. */
const SOON_MS = 30;

/** Loads when it is asked for, or soon by itself: what takes a while to load is there when the database is. */
export function early<T>(clock: Clock, load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined;
  const get = () => {
    loading ??= load();
    return loading;
  };
  // A failure is for the caller of the returned function.
  const cancel = clock.after(SOON_MS, () => void get().catch(() => undefined));
  return () => {
    cancel();
    return get();
  };
}
