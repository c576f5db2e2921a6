import { openEmbedded } from "@slipway/director/store/embedded/open";
import type { Clock } from "@slipway/kernel/clock";
import { closingAll } from "../owned/resource-scope.ts";

/** Measures the start of the database alone, which is created if it does not exist: the floor of a start. */
export const databaseBench = (stateDir: string, clock: Clock): Promise<{ readonly ms: number }> =>
  closingAll(async (owned) => {
    const begun = clock.monotonic();
    await owned.open(
      () => openEmbedded({ stateDir, clock }),
      (database) => database.close(),
    );
    return { ms: clock.monotonic() - begun };
  });
