import { realpath } from "node:fs/promises";
import pg from "pg";

const PORT = 5432;
/** Role of the Director: owner of its database, and nothing more. */
export const ROLE = "director";
export const DATABASE = "slipway";

/** Address and password with which the Director reaches its server. */
export interface ServerAccess {
  /** Directory of the socket. */
  readonly socket: string;
  readonly password: string;
}

/** Connection parameters over the socket, as the Director's role; nothing is taken from PG* variables. */
export const connectionTo = (
  { socket, password }: ServerAccess,
  database: string = DATABASE,
): pg.PoolConfig & { readonly password: string } => ({
  host: socket,
  port: PORT,
  user: ROLE,
  password,
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

/** Reports whether a server answers on the socket and serves this data directory. */
export async function answers(access: ServerAccess, data: string): Promise<boolean> {
  try {
    return await withClient(
      { ...connectionTo(access, "postgres"), connectionTimeoutMillis: 5000 },
      async (client) => {
        const { rows } = await client.query<{ data_directory: string }>("show data_directory");
        return rows[0]?.data_directory === (await realpath(data));
      },
    );
  } catch {
    // Not listening yet, starting, or shutting down: the caller has a deadline.
    return false;
  }
}
