import { type CompiledQuery, Kysely, PostgresDialect, type PostgresPoolClient } from "kysely";
import pg from "pg";
import { fromDatabase } from "./failures.ts";
import { migrate } from "./migrations.ts";
import { Prepared } from "./prepared.ts";
import type { Db, Tables } from "./schema.ts";

export interface Store {
  readonly db: Db;
  /** All or nothing, sent in one go. Each statement fails by itself if it must; nobody looks between. */
  together(statements: readonly CompiledQuery[]): Promise<void>;
  close(): Promise<void>;
}

export interface StoreOptions {
  readonly connection: pg.PoolConfig;
  /** Told of connections that broke while nobody used them. */
  readonly onIdleError?: (error: Error) => void;
}

const INT8 = 20;

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
    // A transaction can be sent in one go: see journal.ts.
    pipeline: true,
  });
  // Without listeners, a server that goes away would end the process.
  pool.on("error", (error) => options.onIdleError?.(error));
  pool.on("connect", (client) => client.on("error", () => undefined));
  try {
    const client = await pool.connect();
    try {
      await migrate(client);
    } finally {
      client.release();
    }
  } catch (error) {
    await pool.end();
    throw fromDatabase(error, "opening the store");
  }
  const prepared = new Prepared();
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: withOurErrors(pool, prepared) }) });
  return { db, together: (statements) => together(pool, prepared, statements), close: () => db.destroy() };
}

const isPlain = (value: unknown): boolean =>
  value === null ||
  ["string", "number", "boolean"].includes(typeof value) ||
  (Array.isArray(value) && value.every((one) => typeof one === "string"));

async function together(
  pool: pg.Pool,
  prepared: Prepared,
  statements: readonly CompiledQuery[],
): Promise<void> {
  const doing = "writing";
  // The driver would leave out what it cannot send, and commit the rest.
  for (const { sql, parameters } of statements)
    if (!parameters.every(isPlain)) throw new Error(`bug: a parameter that cannot be sent, in: ${sql}`);
  const client = await pool.connect().catch((error: unknown) => {
    throw fromDatabase(error, doing);
  });
  try {
    // A single statement is a transaction by itself. After one that fails the others do, and the commit undoes.
    const [only] = statements;
    const settled = await Promise.allSettled(
      statements.length === 1 && only !== undefined
        ? [client.query(prepared.query(only))]
        : [
            client.query("begin"),
            ...statements.map((one) => client.query(prepared.query(one))),
            client.query("commit"),
          ],
    );
    for (const one of settled) if (one.status === "rejected") throw fromDatabase(one.reason, doing);
  } finally {
    client.release();
  }
}

/** The pool as the query builder sees it: a lost connection comes out as an error of ours. */
function withOurErrors(pool: pg.Pool, prepared: Prepared) {
  const known = new WeakMap<pg.PoolClient, PostgresPoolClient>();
  const ours = (client: pg.PoolClient): PostgresPoolClient => ({
    query: (async (sql: string, values: readonly unknown[]) => {
      try {
        return await client.query(prepared.query({ sql, parameters: values }));
      } catch (error) {
        throw fromDatabase(error, `running: ${sql.split(/\s+/).slice(0, 4).join(" ")} ...`);
      }
    }) as unknown as PostgresPoolClient["query"],
    release: () => client.release(),
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
