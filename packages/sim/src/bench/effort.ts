import { readdirSync, readFileSync } from "node:fs";
import type { Clock } from "@slipway/kernel/clock";
import pg from "pg";

/** What the store had to do with some time: how often and how long it was asked, and what its server worked. */
export interface Effort {
  readonly ms: number;
  readonly queries: number;
  /** Time with at least one query under way. */
  readonly askedMs: number;
  /** Processor time of this process and of the database server with its children; 0 where it cannot be read. */
  readonly ownCpuMs: number;
  readonly serverCpuMs: number;
}

/** Every query of every connection passes here. */
export class QueryWatch {
  readonly #clock: Clock;
  #open = 0;
  #since = 0;
  queries = 0;
  askedMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    const { prototype } = pg.Client;
    const ask = prototype.query as (...args: unknown[]) => unknown;
    const begin = () => this.#begin();
    const end = () => this.#end();
    prototype.query = function (this: pg.Client, ...args: unknown[]) {
      const answer = ask.apply(this, args);
      if (!(answer instanceof Promise)) return answer;
      begin();
      return answer.finally(end);
    } as typeof prototype.query;
  }

  #begin(): void {
    this.queries += 1;
    if (this.#open++ === 0) this.#since = this.#clock.monotonic();
  }

  #end(): void {
    if (--this.#open === 0) this.askedMs += this.#clock.monotonic() - this.#since;
  }
}

export async function effortOf(
  work: () => Promise<void>,
  given: { readonly clock: Clock; readonly watch: QueryWatch; readonly server: number },
): Promise<Effort> {
  const { clock, watch, server } = given;
  const before = { at: clock.monotonic(), queries: watch.queries, asked: watch.askedMs };
  const own = process.cpuUsage();
  const serverBefore = cpuOf(server);
  await work();
  const { user, system } = process.cpuUsage(own);
  return {
    ms: clock.monotonic() - before.at,
    queries: watch.queries - before.queries,
    askedMs: watch.askedMs - before.asked,
    ownCpuMs: (user + system) / 1000,
    serverCpuMs: cpuOf(server) - serverBefore,
  };
}

const TICK_MS = 10;

/** Of a process, those of its children that have ended and those that run. */
function cpuOf(pid: number): number {
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
