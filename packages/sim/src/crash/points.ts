import { AsyncLocalStorage } from "node:async_hooks";
import type { Clock } from "@slipway/kernel/clock";
import pg from "pg";
import type { SimClients } from "../director/director-in-sim.ts";
import { statementsIn, writingFunctions } from "./sql.ts";

/** A place where a process may die: the `nth` time that `name` is passed. `before cpi create_vm`, 1. */
export interface PointId {
  readonly name: string;
  readonly nth: number;
}

export const KINDS = ["cpi", "agent", "write"] as const;
export type PointKind = (typeof KINDS)[number];

/** `after write insert intents` is a write. */
export const kindOf = ({ name }: PointId): PointKind =>
  KINDS.find((kind) => name.split(" ")[1] === kind) ?? "write";

/** Places where a process may die: before and after everything it does to the world or the store. */
export interface CrashPoints {
  /** The points passed, in order. */
  readonly passed: () => readonly PointId[];
  /** Transactions seen that may have changed something, those of timers too. */
  readonly transactions: () => number;
  readonly clients: (clients: SimClients) => SimClients;
  /** What its timers write is no point: it comes at times of its own, and could not be found a second time. */
  readonly clock: (clock: Clock) => Clock;
}

/** The database's own functions that write: a statement that calls one does, too. */
export async function readWritingFunctions(connection: object): Promise<ReadonlySet<string>> {
  const client = new pg.Client(connection);
  await client.connect();
  try {
    const { rows } = await client.query<{ readonly proname: string; readonly prosrc: string }>(
      "select proname, prosrc from pg_proc where pronamespace = 'public'::regnamespace",
    );
    return writingFunctions(new Map(rows.map(({ proname, prosrc }) => [proname, prosrc])));
  } finally {
    await client.end();
  }
}

/** Counts the points a process passes and ends it, as kill -9 does, at the one that is named. */
export function installCrashPoints(
  dieAt: PointId | undefined,
  die: () => never,
  functions: ReadonlySet<string>,
): CrashPoints {
  const passed: { readonly id: PointId; changed: boolean }[] = [];
  const times = new Map<string, number>();
  const ofTimer = new AsyncLocalStorage<true>();
  let transactions = 0;
  const hit = (name: string) => {
    const nth = (times.get(name) ?? 0) + 1;
    times.set(name, nth);
    const point = { id: { name, nth }, changed: true };
    passed.push(point);
    if (dieAt?.name === name && dieAt.nth === nth) die();
    return point;
  };
  watchQueries(functions, {
    sees: () => {
      transactions += 1;
    },
    around: async (name, work) => {
      if (ofTimer.getStore() === true) return await work();
      const before = hit(`before write ${name}`);
      const result = await work();
      // What changes nothing is no point: a look for a task when there is none.
      if (result.changed()) hit(`after write ${name}`);
      else before.changed = false;
      return result;
    },
  });
  const around = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    hit(`before ${name}`);
    const result = await work();
    hit(`after ${name}`);
    return result;
  };
  return {
    passed: () => passed.filter(({ changed }) => changed).map(({ id }) => id),
    transactions: () => transactions,
    clients: (clients) => ({
      cpi: (request) => around(`cpi ${request.method}`, () => clients.cpi(request)),
      ask: (agent, method, args) => around(`agent ${method}`, () => clients.ask(agent, method, args)),
    }),
    clock: (clock) => ({
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      sleep: (ms, signal) => clock.sleep(ms, signal),
      after: (ms, callback) => clock.after(ms, () => ofTimer.run(true, callback)),
    }),
  };
}

interface Ran {
  readonly changed: () => boolean;
  readonly reply: unknown;
}

interface Watcher {
  sees(): void;
  around(name: string, work: () => Promise<Ran>): Promise<Ran>;
}

/** What a connection has written since its last commit. */
interface Pending {
  inside: boolean;
  locks: boolean;
  readonly what: Set<string>;
  /** Rows changed as far as the server has said; infinite when it does not. */
  rows: number;
}

type Query = (...args: readonly unknown[]) => unknown;

/**
 * Every statement of the store passes here, whoever asks for it and in whichever form. A transaction is one write, at its
 * commit: before it nothing is there, after it everything.
 */
function watchQueries(functions: ReadonlySet<string>, watcher: Watcher): void {
  const prototype = pg.Client.prototype as unknown as { query: Query };
  const query = prototype.query;
  const connections = new WeakMap<object, Pending>();
  prototype.query = function (this: object, ...args: readonly unknown[]): unknown {
    const pending = connections.get(this) ?? fresh();
    connections.set(this, pending);
    let counts = false;
    for (const statement of statementsIn(textOf(args[0]), functions)) {
      if (statement.does === "begin") pending.inside = true;
      if (statement.does === "commit") pending.inside = false;
      if (statement.does === "rollback") Object.assign(pending, fresh());
      if (statement.does === "lock") pending.locks = true;
      if (statement.does !== "write") continue;
      for (const one of statement.what) pending.what.add(one);
      counts = statement.counts;
      if (!counts) pending.rows = Number.POSITIVE_INFINITY;
    }
    const run = async (): Promise<Ran> => {
      const reply = await (query.apply(this, [...args]) as Promise<pg.QueryResult>);
      if (counts) pending.rows += reply?.rowCount ?? 0;
      return { reply, changed: () => pending.rows > 0 && reply?.command !== "ROLLBACK" };
    };
    const reply = async (ran: Promise<Ran>) => (await ran).reply;
    if (pending.inside) return pending.what.size === 0 ? query.apply(this, [...args]) : reply(run());
    connections.delete(this);
    if (pending.locks || pending.what.size > 0) watcher.sees();
    if (pending.what.size === 0) return query.apply(this, [...args]);
    if (typeof args.at(-1) === "function") throw new Error("bug: a write with a callback cannot be watched");
    return reply(watcher.around([...pending.what].sort().join(", "), run));
  };
}

const fresh = (): Pending => ({ inside: false, locks: false, what: new Set(), rows: 0 });

function textOf(query: unknown): string {
  if (typeof query === "string") return query;
  return typeof query === "object" && query !== null && "text" in query ? String(query.text) : "";
}
