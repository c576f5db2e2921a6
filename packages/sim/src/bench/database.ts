import { chmod, mkdtemp, rm } from "node:fs/promises";
import { type Embedded, openEmbedded } from "@slipway/director/store/embedded/open";
import { openStore, type Store } from "@slipway/director/store/open";
import type { Clock } from "@slipway/kernel/clock";
import { simSealer } from "../director/sim-sealer.ts";

export interface Opened {
  readonly dir: string;
  readonly database: Embedded;
  readonly store: Store;
}

/** The real server, as durable as the Director's own, for as long as the work takes. */
export async function withStore<T>(clock: Clock, work: (opened: Opened) => Promise<T>): Promise<T> {
  const dir = await mkdtemp("/var/tmp/slipway-bench-");
  // As root the server runs as somebody else, who must get through.
  await chmod(dir, 0o711);
  try {
    return await withStoreIn(dir, clock, work);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

export async function withStoreIn<T>(
  dir: string,
  clock: Clock,
  work: (opened: Opened) => Promise<T>,
  sealer = simSealer,
): Promise<T> {
  const database = await openEmbedded({ stateDir: dir, clock });
  try {
    const store = await openStore({ sealer, connection: database.connection });
    try {
      return await work({ dir, database, store });
    } finally {
      await store.close();
    }
  } finally {
    await database.close();
  }
}
