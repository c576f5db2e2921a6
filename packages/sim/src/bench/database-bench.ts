import { openEmbedded } from "@slipway/director/store/embedded/open";
import type { Clock } from "@slipway/kernel/clock";
import { closingAll } from "../owned/owned.ts";

/** How long the database takes by itself, made when it is not there: the floor of a start. */
export const databaseBench = (stateDir: string, clock: Clock): Promise<{ readonly ms: number }> =>
  closingAll(async (owned) => {
    const begun = clock.monotonic();
    await owned.open(
      () => openEmbedded({ stateDir, clock }),
      (database) => database.close(),
    );
    return { ms: clock.monotonic() - begun };
  });
