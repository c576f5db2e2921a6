import { statfsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import type { Clock } from "@slipway/kernel/clock";
import { lockState, openEmbedded } from "../store/embedded/open.ts";
import type { Space } from "../tasks/transient-cause.ts";
import type { StartOptions } from "./director.ts";

/** The one of the configuration, or one of our own in the state directory. */
export async function openDatabase(
  { config, stateDir, clock }: Pick<StartOptions, "config" | "stateDir" | "clock">,
  onLost: (error: unknown) => void,
) {
  const url = config.database?.url;
  if (url === undefined) return await openEmbedded({ stateDir, clock, onLost });
  await mkdir(stateDir, { recursive: true, mode: 0o700 });
  const lock = await lockState(stateDir, clock);
  return {
    connection: { connectionString: url },
    adopted: false,
    trouble: () => undefined,
    close: () => lock.release(),
  };
}

/** Free space below which nothing is begun: the database needs some to go on, and so do tasks that make room. */
const MIN_FREE_BYTES = 64 << 20;
const SPACE_CHECK_MS = 500;
const BYTES_PER_MIB = 1 << 20;

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
      if (free >= MIN_FREE_BYTES) return undefined;
      return `No space left in the state directory: ${Math.floor(free / BYTES_PER_MIB)} MiB are free, ${MIN_FREE_BYTES / BYTES_PER_MIB} MiB are needed`;
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
  const shortage = () => (clock.monotonic() - looked < SPACE_CHECK_MS ? found : lookNow());
  let cancel = () => {};
  const watch = () => {
    shortage();
    cancel = clock.after(SPACE_CHECK_MS, watch);
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
