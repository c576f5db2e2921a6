import { chmod, mkdtemp, rm } from "node:fs/promises";
import { type Embedded, openEmbedded } from "@slipway/director/store/embedded/open";
import { openStore, type Store } from "@slipway/director/store/open";
import type { Clock } from "@slipway/kernel/clock";
import { simSealer } from "../director/sim-sealer.ts";
import { closingAll, type ResourceScope } from "../owned/resource-scope.ts";

export interface Opened {
  readonly dir: string;
  readonly database: Embedded;
  readonly store: Store;
}

/** The real server, as durable as the Director's own, for as long as the work takes. */
export const withStore = <T>(
  clock: Clock,
  work: (opened: Opened, owned: ResourceScope) => Promise<T>,
): Promise<T> =>
  closingAll(async (owned) => {
    const dir = await owned.open(makeDirectory, (one) => rm(one, { recursive: true, force: true }));
    return await workIn(owned, { dir, clock, sealer: simSealer }, work);
  });

export const withStoreIn = <T>(
  dir: string,
  clock: Clock,
  work: (opened: Opened, owned: ResourceScope) => Promise<T>,
  sealer = simSealer,
): Promise<T> => closingAll((owned) => workIn(owned, { dir, clock, sealer }, work));

async function makeDirectory(): Promise<string> {
  const dir = await mkdtemp("/var/tmp/slipway-bench-");
  // As root the server runs as another user, who must get through.
  await chmod(dir, 0o711);
  return dir;
}

async function workIn<T>(
  owned: ResourceScope,
  { dir, clock, sealer }: { readonly dir: string; readonly clock: Clock; readonly sealer: typeof simSealer },
  work: (opened: Opened, owned: ResourceScope) => Promise<T>,
): Promise<T> {
  const database = await owned.open(
    () => openEmbedded({ stateDir: dir, clock }),
    (one) => one.close(),
  );
  const { connection } = database;
  const store = await owned.open(
    () => openStore({ sealer, connection }),
    (one) => one.close(),
  );
  return await work({ dir, database, store }, owned);
}
