import { EventEmitter } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import type { Clock } from "@slipway/kernel/clock";
import pg from "pg";

/**
 * Cost of some work: number and time of database queries, and processor time by process. `bench:director -- --against`
 * puts this file in the place of another checkout's, so that both builds are measured alike: it imports nothing but the
 * clock's type and the driver, and its names stay.
 */
export interface Effort {
  readonly ms: number;
  readonly statements: number;
  /** Times that a connection waited for the server: statements sent together are one. */
  readonly roundTrips: number;
  /** Time with at least one statement under way. */
  readonly askedMs: number;
  /** Processor time of this process and of the database server with its children; 0 where it cannot be read. */
  readonly ownCpuMs: number;
  readonly serverCpuMs: number;
  /** The most memory this process has had so far. */
  readonly peakMib: number;
}

/** The benchmark's own query for the end of its task, which does not count as effort. */
const OWN_QUESTION = 'select "state", "result" from "tasks" where "id" = $1';

/** Every statement of every connection passes here. */
export class QueryWatch {
  readonly #clock: Clock;
  readonly #openOf = new WeakMap<pg.Client, number>();
  #open = 0;
  #since = 0;
  statements = 0;
  roundTrips = 0;
  ownQuestions = 0;
  askedMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    const { prototype } = pg.Client;
    const ask = prototype.query as (...args: unknown[]) => unknown;
    const watch = this;
    prototype.query = function (this: pg.Client, ...args: unknown[]) {
      if (textOf(args[0]) === OWN_QUESTION) {
        watch.ownQuestions += 1;
        return ask.apply(this, args);
      }
      const callback = args.at(-1);
      const called = typeof callback === "function";
      watch.#begin(this);
      if (called)
        args[args.length - 1] = (...answer: unknown[]) => {
          watch.#end(this);
          callback(...answer);
        };
      const answer = ask.apply(this, args);
      if (answer instanceof Promise) return answer.finally(() => watch.#end(this));
      // One that submits itself tells of its end by an event.
      if (answer instanceof EventEmitter)
        for (const end of ["end", "error"]) answer.once(end, () => watch.#end(this));
      return answer;
    } as typeof prototype.query;
  }

  #begin(client: pg.Client): void {
    this.statements += 1;
    const before = this.#openOf.get(client) ?? 0;
    // The Director's connections send a statement at once, whether the one before it has been answered or not.
    if (before === 0) this.roundTrips += 1;
    this.#openOf.set(client, before + 1);
    if (this.#open++ === 0) this.#since = this.#clock.monotonic();
  }

  #end(client: pg.Client): void {
    this.#openOf.set(client, (this.#openOf.get(client) ?? 1) - 1);
    if (--this.#open === 0) this.askedMs += this.#clock.monotonic() - this.#since;
  }
}

/** Returns the text of a query: a string, a configuration, or an object that submits itself. */
function textOf(query: unknown): string | undefined {
  if (typeof query === "string") return query;
  const text = (query as { readonly text?: unknown } | null | undefined)?.text;
  return typeof text === "string" ? text : undefined;
}

export async function effortOf(
  work: () => Promise<void>,
  given: { readonly clock: Clock; readonly watch: QueryWatch; readonly server: number },
): Promise<Effort> {
  const { clock, watch, server } = given;
  const { statements, roundTrips, ownQuestions, askedMs } = watch;
  // Reading the times of all processes is not a part of the work.
  const serverBefore = cpuOf(server);
  const own = process.cpuUsage();
  const begun = clock.monotonic();
  await work();
  const ms = clock.monotonic() - begun;
  if (watch.ownQuestions === ownQuestions)
    throw new Error(
      "the benchmark's own statements are no longer told from the Director's: see OWN_QUESTION",
    );
  const { user, system } = process.cpuUsage(own);
  return {
    ms,
    statements: watch.statements - statements,
    roundTrips: watch.roundTrips - roundTrips,
    askedMs: watch.askedMs - askedMs,
    ownCpuMs: (user + system) / 1000,
    serverCpuMs: cpuOf(server) - serverBefore,
    peakMib: process.resourceUsage().maxRSS / 1024,
  };
}

const TICK_MS = 10;

/** Returns the processor time of a process with its children, those that have ended and those that run. */
export function cpuOf(pid: number): number {
  if (process.platform !== "linux") return 0;
  const own = statOf(pid);
  const children = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => statOf(Number(name)))
    .filter((one) => one?.parent === pid);
  return [own, ...children].reduce((sum, one) => sum + (one?.ticks ?? 0), 0) * TICK_MS;
}

function statOf(pid: number): { readonly parent: number; readonly ticks: number } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name in brackets may hold anything.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    const ticks = fields.slice(11, 15).reduce((sum, one) => sum + Number(one), 0);
    return { parent: Number(fields[1]), ticks };
  } catch {
    // It has just ended.
    return undefined;
  }
}
