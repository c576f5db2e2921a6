import pg from "pg";
import type { Doors } from "../director/director-in-sim.ts";

/** Places where a process may die: before and after everything it does to the world or the store. */
export interface CrashPoints {
  readonly hits: () => number;
  readonly doors: (doors: Doors) => Doors;
  /** The names of the points passed, in order. */
  readonly names: readonly string[];
}

/** Not work, and at times of their own: outputs in pieces, leases and locks that are renewed. */
const NOISE = /task_output|lease_until|"locks"|\blocks\b|advisory/;
const WRITES = /^\s*(commit|insert|update|delete)\b/i;
const HIDDEN_WRITE = /^\s*with\b[\s\S]*\b(insert into|update|delete from)\b/i;

/** Counts the points a process passes and ends it, as kill -9 does, at the one that is named. */
export function installCrashPoints(dieAt: number | undefined, die: () => void): CrashPoints {
  let hits = 0;
  const names: string[] = [];
  const hit = (name: string): Promise<void> => {
    hits += 1;
    names.push(name);
    if (hits !== dieAt) return Promise.resolve();
    die();
    // The signal is on its way; nothing of this process happens any more.
    return new Promise(() => undefined);
  };
  const around = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    await hit(`before ${name}`);
    const result = await work();
    await hit(`after ${name}`);
    return result;
  };
  watchQueries(around);
  return {
    hits: () => hits,
    names,
    doors: (doors) => ({
      cpi: (request) => around(`cpi ${request.method}`, () => doors.cpi(request)),
      ask: (agent, method, args) => around(`agent ${method}`, () => doors.ask(agent, method, args)),
    }),
  };
}

type Query = (...args: readonly unknown[]) => unknown;

/** Every write of the store passes here, whoever asks for it. */
function watchQueries(around: <T>(name: string, work: () => Promise<T>) => Promise<T>): void {
  const prototype = pg.Client.prototype as unknown as { query: Query };
  const query = prototype.query;
  const inside = new WeakMap<object, boolean>();
  prototype.query = function (this: object, ...args: readonly unknown[]): unknown {
    const [first] = args;
    const text = typeof first === "string" ? first : "";
    const run = () => query.apply(this, [...args]) as Promise<unknown>;
    if (/^\s*begin/i.test(text)) inside.set(this, true);
    if (/^\s*(commit|rollback)/i.test(text)) inside.set(this, false);
    const writes = WRITES.test(text) || HIDDEN_WRITE.test(text);
    if (!writes || NOISE.test(text) || inside.get(this) === true) return run();
    return around(`write ${text.trim().split(/\s+/).slice(0, 3).join(" ")}`, run);
  };
}
