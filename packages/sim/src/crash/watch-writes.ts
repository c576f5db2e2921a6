import pg from "pg";
import { JournalNames } from "./journal-names.ts";
import { statementsIn } from "./sql.ts";

export interface Watcher {
  /** A transaction that may have changed something. */
  sees(): void;
  /** False: what is written now is let through. */
  watches(): boolean;
  /** Called before and after each query. */
  pause(): Promise<void>;
  /** `work` makes what was written last. `names`: of all that it is, most often one. */
  around<T>(names: readonly string[], work: () => Promise<T>): Promise<T>;
}

/** A connection, and what it has written since its last commit. */
interface Connection {
  /** Ends when all that was asked of it is done. */
  turn: Promise<unknown>;
  inside: boolean;
  locks: boolean;
  names: ReadonlySet<string>;
  /** Rows changed as far as the server has said; infinite when it does not. */
  rows: number;
}

type Query = (...args: readonly unknown[]) => unknown;

const NOTHING = { inside: false, locks: false, names: new Set<string>(), rows: 0 };

/**
 * Every statement of the store passes here, whoever asks for it and in whichever form. A transaction is one write, at its
 * commit: before it nothing is there, after it everything. What changes nothing is no write: how often a Director looks
 * for a task when there is none depends on how fast it is.
 */
export function watchWrites(functions: ReadonlySet<string>, watcher: Watcher): void {
  const prototype = pg.Client.prototype as unknown as { query: Query };
  const query = prototype.query;
  const journal = new JournalNames();
  const connections = new WeakMap<object, Connection>();

  async function run(client: object, connection: Connection, args: readonly unknown[]): Promise<unknown> {
    const { text, values } = asked(args);
    const send = (...what: readonly unknown[]) => query.apply(client, [...what]) as Promise<pg.QueryResult>;
    const statements = statementsIn(text, functions);
    const alone = !connection.inside && statements.length === 1;
    let counts = false;
    for (const statement of statements) {
      if (statement.does === "begin") connection.inside = true;
      if (statement.does === "commit") connection.inside = false;
      if (statement.does === "rollback") Object.assign(connection, NOTHING);
      if (statement.does === "lock") connection.locks = true;
      if (statement.does !== "write") continue;
      connection.names = new Set([...connection.names, ...statement.what]);
      counts = statement.counts;
      if (!counts) connection.rows = Number.POSITIVE_INFINITY;
    }
    if (connection.inside) {
      const reply = await send(...args);
      if (counts) connection.rows += reply?.rowCount ?? 0;
      return reply;
    }
    const { locks, names, rows } = connection;
    Object.assign(connection, NOTHING);
    if (locks || names.size > 0) watcher.sees();
    if (names.size === 0 || !watcher.watches()) return await send(...args);
    const name = [...names].sort().join(", ");
    if (!alone) return rows > 0 ? await watcher.around([name], () => send(...args)) : await send(...args);
    if (!counts) return await watcher.around(journal.of(name, values), () => send(...args));
    // Whether it changes something is known before the commit.
    await send("begin");
    try {
      const reply = await send(...args);
      const commit = () => send("commit");
      await ((reply.rowCount ?? 0) > 0 ? watcher.around([name], commit) : commit());
      return reply;
    } catch (error) {
      await send("rollback").catch(() => undefined);
      throw error;
    }
  }

  prototype.query = function (this: object, ...args: readonly unknown[]): unknown {
    if (typeof args.at(-1) === "function") {
      if (statementsIn(asked(args).text, functions).every(({ does }) => does === "read"))
        return query.apply(this, [...args]);
      throw new Error("bug: a write with a callback cannot be watched");
    }
    const connection = connections.get(this) ?? { ...NOTHING, turn: Promise.resolve() };
    connections.set(this, connection);
    // One after the other, as the driver does it: what came before is known when it is looked at.
    const reply = connection.turn.then(async () => {
      await watcher.pause();
      const given = await run(this, connection, args);
      await watcher.pause();
      return given;
    });
    connection.turn = reply.catch(() => undefined);
    return reply;
  };
}

function asked([query, values]: readonly unknown[]): {
  readonly text: string;
  readonly values: readonly unknown[];
} {
  if (typeof query === "string") return { text: query, values: Array.isArray(values) ? values : [] };
  const { text, values: given } = (query ?? {}) as { readonly text?: unknown; readonly values?: unknown };
  return { text: typeof text === "string" ? text : "", values: Array.isArray(given) ? given : [] };
}
