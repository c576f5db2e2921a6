import { realpath } from "node:fs/promises";
import pg from "pg";

const PORT = 5432;
const USER = "slipway";

/** Over the socket, as the server's superuser; nothing is taken from PG* variables. */
export const connectionTo = (socket: string, database: string): pg.PoolConfig => ({
  host: socket,
  port: PORT,
  user: USER,
  database,
  ssl: false,
});

/** Runs `work` on a connection of its own. */
export async function withClient<T>(
  connection: pg.ClientConfig,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client(connection);
  // A connection that breaks also fails what was asked of it.
  client.on("error", () => undefined);
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Whether a server answers on the socket and serves this data directory. */
export async function answers(socket: string, data: string): Promise<boolean> {
  try {
    return await withClient(
      { ...connectionTo(socket, "postgres"), connectionTimeoutMillis: 5000 },
      async (client) => {
        const { rows } = await client.query<{ data_directory: string }>("show data_directory");
        return rows[0]?.data_directory === (await realpath(data));
      },
    );
  } catch {
    // Not listening yet, starting, or shutting down: whoever waits has a deadline.
    return false;
  }
}

export async function ensureDatabase(socket: string, name: string): Promise<void> {
  await withClient(connectionTo(socket, "postgres"), async (client) => {
    const { rowCount } = await client.query("select 1 from pg_database where datname = $1", [name]);
    if (rowCount === 0) await client.query(`create database ${pg.escapeIdentifier(name)}`);
  });
}
