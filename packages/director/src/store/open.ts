import type { Clock } from "@slipway/kernel/clock";
import type { Sealer } from "@slipway/kernel/sealer";
import { Kysely, PostgresDialect, type PostgresPoolClient } from "kysely";
import pg from "pg";
import { StoreFull, StoreLost } from "./errors.ts";
import { fromDatabase } from "./failures.ts";
import { Listener, type ListenOptions } from "./listen.ts";
import { migrate } from "./migrations.ts";
import { Prepared } from "./prepared.ts";
import type { Db, Tables } from "./schema.ts";
import { checkKey } from "./seal-key.ts";
import { sealOld } from "./seal-old.ts";
import { openRows, sealParameters } from "./sealed.ts";

export interface Store {
  readonly db: Db;
  /** Listens for changes of `tasks` or `locks` until it is closed. */
  listen(options: Omit<ListenOptions, "connect">): Listener;
  close(): Promise<void>;
}

export interface StoreOptions {
  readonly connection: pg.PoolConfig;
  /** Seals values that may hold secrets. */
  readonly sealer: Sealer;
  /** A statement for which the server has no space is tried again for a moment; without it, it fails at once. */
  readonly clock?: Clock;
  /** Receives errors of connections that broke while unused. */
  readonly onIdleError?: (error: Error) => void;
}

const INT8 = 20;
const IDLE_MS = 20_000;
/** Time after which the server has got the space that is kept for it. */
const FULL_MS = 5_000;
const FULL_PAUSE_MS = 100;

/** Ids and counts are numbers here: none of ours reaches 2^53. For our pool only, not for the whole process. */
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: "text" | "binary") =>
    oid === INT8 && format !== "binary"
      ? Number
      : pg.types.getTypeParser(oid, format as "text")) as typeof pg.types.getTypeParser,
};

/** Connects, brings the tables to the newest version, and hands out the query builder. */
export async function openStore(options: StoreOptions): Promise<Store> {
  const pool = new pg.Pool({
    max: 20,
    connectionTimeoutMillis: 30_000,
    application_name: "slipway-director",
    ...options.connection,
    types,
    // A Director that stands still in the middle of a transaction must not keep others from going on.
    idle_in_transaction_session_timeout: IDLE_MS,
  });
  // Without listeners, a server that goes away would end the process.
  pool.on("error", (error) => options.onIdleError?.(error));
  pool.on("connect", (client) => client.on("error", () => undefined));
  try {
    const client = await pool.connect();
    try {
      await migrate(client);
      await checkKey(client, options.sealer);
      await sealOld(client, options.sealer);
    } finally {
      client.release();
    }
  } catch (error) {
    await pool.end();
    throw fromDatabase(error, "opening the store");
  }
  const prepared = new Prepared();
  const { sealer, connection } = options;
  const seen = asWeUseIt(pool, prepared, sealer, options.clock);
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: seen }) });
  return {
    db,
    listen: (given) =>
      new Listener({ ...given, connect: () => new pg.Client(connection as pg.ClientConfig) }),
    close: () => db.destroy(),
  };
}

/** The pool as the query builder sees it: secrets are sealed, and a lost connection is an error of ours. */
function asWeUseIt(pool: pg.Pool, prepared: Prepared, sealer: Sealer, clock: Clock | undefined) {
  const known = new WeakMap<pg.PoolClient, PostgresPoolClient>();
  const lost = new WeakSet<pg.PoolClient>();
  const inside = new WeakSet<pg.PoolClient>();
  const once = async (client: pg.PoolClient, sql: string, values: readonly unknown[]) => {
    try {
      const parameters = sealParameters(values, sealer);
      const result = await client.query(prepared.query({ sql, parameters }));
      openRows(result.rows as Record<string, unknown>[], sealer);
      return result;
    } catch (error) {
      const ours = fromDatabase(error, `running: ${sql.trim().split(/\s+/).slice(0, 4).join(" ")} ...`);
      if (StoreLost.is(ours)) lost.add(client);
      throw ours;
    }
  };
  /**
   * Retries while the disk is full. A single statement that failed has done nothing; one in a transaction has failed all of it.
   */
  const patiently = async (client: pg.PoolClient, sql: string, values: readonly unknown[]) => {
    if (/^begin\b/i.test(sql)) inside.add(client);
    if (/^(commit|rollback)\b/i.test(sql)) inside.delete(client);
    if (clock === undefined || inside.has(client)) return await once(client, sql, values);
    const until = clock.monotonic() + FULL_MS;
    for (;;) {
      try {
        return await once(client, sql, values);
      } catch (error) {
        if (!StoreFull.is(error) || clock.monotonic() >= until) throw error;
        await clock.sleep(FULL_PAUSE_MS);
      }
    }
  };
  const ours = (client: pg.PoolClient): PostgresPoolClient => ({
    query: ((sql: string, values?: readonly unknown[]) =>
      patiently(client, sql, values ?? [])) as unknown as PostgresPoolClient["query"],
    // The pool must not hand out a connection that is gone.
    release: () => client.release(lost.has(client)),
  });
  return {
    connect: async (): Promise<PostgresPoolClient> => {
      try {
        const client = await pool.connect();
        const found = known.get(client) ?? ours(client);
        known.set(client, found);
        return found;
      } catch (error) {
        throw fromDatabase(error, "connecting to it");
      }
    },
    end: () => pool.end(),
  };
}

/** Runs `work` in a transaction: the one at hand, or a new one. */
export const inTransaction = <T>(db: Db, work: (tx: Db) => Promise<T>): Promise<T> =>
  db.isTransaction ? work(db) : db.transaction().execute(work);
