import { AsyncLocalStorage } from "node:async_hooks";
import type { Clock } from "@slipway/kernel/clock";
import pg from "pg";
import type { SimClients } from "../director/director-in-sim.ts";
import { writingFunctions } from "./sql.ts";
import { watchWrites } from "./watch-writes.ts";

/** A place where a process may die: the `nth` time that `name` is passed. `before cpi create_vm`, 1. */
export interface PointId {
  readonly name: string;
  readonly nth: number;
}

export const pointText = ({ name, nth }: PointId): string => `${name} (${nth})`;

export const isSame = (a: PointId, b: PointId | undefined): boolean => a.name === b?.name && a.nth === b.nth;

/** A point that was passed. */
export interface Passed extends PointId {
  /**
   * True if something was begun or done since the previous point. If not, a death here leaves the same state as one
   * there.
   */
  readonly anew: boolean;
}

export const KINDS = ["cpi", "agent", "write"] as const;
export type PointKind = (typeof KINDS)[number];

/** `after write insert intents` is a write. */
export const kindOf = ({ name }: PointId): PointKind =>
  KINDS.find((kind) => name.split(" ")[1] === kind) ?? "write";

/** Places where a process may die: before and after everything it does to the world or the store. */
export interface CrashPoints {
  /** The points passed, in order. */
  readonly passed: () => readonly Passed[];
  /** Transactions seen that may have changed something, those of timers too. */
  readonly transactions: () => number;
  readonly clients: (clients: SimClients) => SimClients;
  /** Wraps the clock. Writes of timers are no points: their moments vary, and could not be found a second time. */
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

export interface PointsOptions {
  /** Called at each point, before anything else happens. */
  readonly reached: (point: PointId) => void;
  /** Functions of the database that write. */
  readonly functions: ReadonlySet<string>;
  /** Returns the state beside the store and the world; it changes with them. */
  readonly files?: (() => string) | undefined;
  /** Called before and after each call. */
  readonly pause?: (() => Promise<void>) | undefined;
}

/** Counts the points a process passes. */
export function installCrashPoints(options: PointsOptions): CrashPoints {
  const { reached, functions, files = () => "", pause = () => Promise.resolve() } = options;
  const passed: Passed[] = [];
  const times = new Map<string, number>();
  const ofTimer = new AsyncLocalStorage<true>();
  let transactions = 0;
  let moved = true;
  let left = "";
  const hit = (name: string) => {
    const nth = (times.get(name) ?? 0) + 1;
    times.set(name, nth);
    const leaves = files();
    passed.push({ name, nth, anew: moved || leaves !== left });
    moved = false;
    left = leaves;
    reached({ name, nth });
  };
  const around = async <T>(names: readonly string[], work: () => Promise<T>): Promise<T> => {
    for (const name of names) hit(`before ${name}`);
    moved = true;
    const result = await work().finally(() => {
      moved = true;
    });
    for (const name of names) hit(`after ${name}`);
    return result;
  };
  watchWrites(functions, {
    sees: () => {
      transactions += 1;
    },
    watches: () => ofTimer.getStore() !== true,
    pause,
    around: (names, work) =>
      around(
        names.map((name) => `write ${name}`),
        work,
      ),
  });
  const call = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    await pause();
    const result = await around([name], work);
    await pause();
    return result;
  };
  return {
    passed: () => [...passed],
    transactions: () => transactions,
    clients: (clients) => ({
      cpi: (request, of) => call(`cpi ${request.method}`, () => clients.cpi(request, of)),
      ask: (agent, method, args) => call(`agent ${method}`, () => clients.ask(agent, method, args)),
    }),
    clock: (clock) => ({
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      sleep: (ms, signal) => clock.sleep(ms, signal),
      after: (ms, callback) => clock.after(ms, () => ofTimer.run(true, callback)),
    }),
  };
}
