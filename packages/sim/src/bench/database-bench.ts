import { openEmbedded } from "@slipway/director/store/embedded/open";
import type { Clock } from "@slipway/kernel/clock";

/** How long the database takes by itself, made when it is not there: the floor of a start. */
export async function databaseBench(stateDir: string, clock: Clock): Promise<{ readonly ms: number }> {
  const begun = clock.monotonic();
  const database = await openEmbedded({ stateDir, clock });
  const ms = clock.monotonic() - begun;
  await database.close();
  return { ms };
}
