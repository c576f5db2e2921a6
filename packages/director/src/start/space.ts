import { statfsSync } from "node:fs";
import type { Clock } from "@slipway/kernel/clock";
import type { Space } from "../tasks/setback.ts";

/** Free space below which nothing is begun: the database needs some to go on, and so do tasks that make room. */
const FLOOR = 64 << 20;
const LOOKED_AT_MS = 500;
const MIB = 1 << 20;

/**
 * The space of the file system a directory is on, looked at again and again until it is closed, so that a shortage that
 * passes is known, too. One that cannot be asked has enough.
 */
export function diskSpace(directory: string, clock: Clock): Space & { close(): void } {
  let looked = Number.NEGATIVE_INFINITY;
  let found: string | undefined;
  let last: { readonly at: number; readonly words: string } | undefined;
  const look = (): string | undefined => {
    try {
      const { bavail, bsize } = statfsSync(directory);
      const free = bavail * bsize;
      if (free >= FLOOR) return undefined;
      return `No space left in the state directory: ${Math.floor(free / MIB)} MiB are free, ${FLOOR / MIB} MiB are needed`;
    } catch {
      return undefined;
    }
  };
  const lookNow = () => {
    looked = clock.monotonic();
    found = look();
    if (found !== undefined) last = { at: looked, words: found };
    return found;
  };
  const shortage = () => (clock.monotonic() - looked < LOOKED_AT_MS ? found : lookNow());
  let cancel = () => {};
  const watch = () => {
    shortage();
    cancel = clock.after(LOOKED_AT_MS, watch);
  };
  watch();
  return {
    shortage,
    close: () => cancel(),
    // Asked when something failed: what was seen a moment before would not tell.
    shortageSince: (moment) =>
      lookNow() ?? (last !== undefined && last.at >= moment ? last.words : undefined),
  };
}
