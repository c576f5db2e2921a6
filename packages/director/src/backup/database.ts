import type { Clock } from "@slipway/kernel/clock";
import type { DirectorConfig } from "@slipway/protocol/director/config-file";
import type pg from "pg";
import { databaseOf } from "../store/embedded/left-behind.ts";
import { openEmbedded } from "../store/embedded/open.ts";
import { foundAccess } from "../store/embedded/places.ts";
import { connectionTo } from "../store/embedded/probe.ts";

/** The database of a state directory: the server that a Director runs, one started for this, or the configuration's. */
export async function withDatabase<T>(
  {
    stateDir,
    config,
    clock,
  }: {
    readonly stateDir: string;
    readonly config: DirectorConfig;
    readonly clock: Clock;
  },
  work: (connection: pg.ClientConfig) => Promise<T>,
): Promise<T> {
  const url = config.database?.url;
  if (url !== undefined) return await work({ connectionString: url });
  if ((await databaseOf(stateDir)) !== undefined)
    return await work(connectionTo(await foundAccess(stateDir)) as pg.ClientConfig);
  const embedded = await openEmbedded({ stateDir, clock });
  try {
    return await work(embedded.connection as pg.ClientConfig);
  } finally {
    await embedded.close();
  }
}
