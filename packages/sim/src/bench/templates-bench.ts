import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import {
  isFailure,
  type Renderer,
  type RenderPool,
  type RenderRequest,
} from "@slipway/engine/templates/request";
import { RUBY_PROGRAM } from "@slipway/engine/templates/ruby-program";
import { decodeAnswer, encodeRequest } from "@slipway/engine/templates/ruby-wire";
import { systemRuby } from "@slipway/engine/templates/system-ruby";
import { WasmRenderer } from "@slipway/engine/templates/wasm-renderer";
import type { Clock } from "@slipway/kernel/clock";
import { systemClock } from "@slipway/kernel/clock";
import { systemExec as exec } from "@slipway/kernel/exec";
import { SAMPLE_PROPERTIES, TEMPLATES, TEMPLATES_PER_JOB } from "./sample-release.ts";

export interface TemplatesReport {
  /** Milliseconds of processor time until the first job is rendered. */
  readonly start: StartTimes;
  /** Milliseconds of processor time for `MEASURED_JOBS` jobs of one thread that has rendered them before. */
  readonly warmJobs: number;
  /** Memory that one more thread adds to the process, in MiB. */
  readonly threadMib: number;
  /** Templates per second: one thread, as many as the Director has, and what a Ruby of the system does. */
  readonly one: number;
  readonly all: number;
  readonly threads: number;
  /** Templates per second of a Ruby of the system. Undefined without a Ruby. */
  readonly warm?: number;
  readonly each?: number;
  /** `templates.ruby`: a process in namespaces for each job. Undefined where those cannot be had. */
  readonly configured?: number | undefined;
  readonly version?: string | undefined;
}

const LIMIT_MS = 60_000;
const MOST_THREADS = 4;
/** A start of Ruby takes long enough that few tell. */
const MOST_STARTS = 20;
const ROUNDS = 3;
const MEASURED_JOBS = 50;

export interface StartTimes {
  /** Start from the build's snapshot, in a process that has not rendered yet or not for a while. */
  readonly cold: number;
  /** The same without that snapshot: Ruby boots. */
  readonly booted: number;
  /** Start of a further task, while the compiled Ruby is there. */
  readonly next: number;
}

export const builtInRuby = (
  threads = Math.min(availableParallelism(), MOST_THREADS),
  snapshot?: string,
): RenderPool =>
  new WasmRenderer({
    worker: join(process.cwd(), "packages/engine/dist/render-worker.mjs"),
    snapshot,
    clock: systemClock,
    threads,
    limit: LIMIT_MS,
  });

/** Renders as many jobs, each with a context of its own, in every way there is, by turns; the best of each counts. */
export async function templatesBench(
  jobs: number,
  ruby: string | undefined,
  clock: Clock,
): Promise<TemplatesReport> {
  const all = Array.from({ length: jobs }, (_, at) => requestOf(at));
  const few = all.slice(0, MOST_STARTS);
  const threads = Math.min(availableParallelism(), MOST_THREADS);
  const { threadMib, ...start } = await starts();
  const pools = [builtInRuby(1), builtInRuby(threads)] as const;
  const [one, many] = [pools[0].open(), pools[1].open()];
  const system = ruby === undefined ? undefined : startRuby(ruby);
  const measured = Array.from({ length: MEASURED_JOBS }, (_, at) => requestOf(at));
  try {
    // Threads start with their first job, and become faster.
    for (const renderer of [one, many]) await Promise.all(few.map(rendering(renderer)));
    const ways: Record<string, () => Promise<number>> = {
      one: () => rate(clock, jobs * TEMPLATES_PER_JOB, () => inTurn(all, rendering(one))),
      all: () =>
        rate(clock, jobs * TEMPLATES_PER_JOB, async () => void (await Promise.all(all.map(rendering(many))))),
    };
    if (ruby !== undefined && system !== undefined) {
      await inTurn(few, system.render);
      ways.warm = () => rate(clock, jobs * TEMPLATES_PER_JOB, () => inTurn(all, system.render));
      ways.each = () =>
        rate(clock, few.length, async () => {
          for (const request of few) oneStart(ruby, request);
        });
      const configured = rendering(systemRuby({ ruby, over: tmpdir(), exec, clock, limit: LIMIT_MS }));
      if (await works(() => configured(requestOf(0))))
        ways.configured = () => rate(clock, few.length * TEMPLATES_PER_JOB, () => inTurn(few, configured));
    }
    const best: Record<string, number> = {};
    let warmJobs = Number.POSITIVE_INFINITY;
    for (let round = 0; round < ROUNDS; round++) {
      warmJobs = Math.min(warmJobs, await effort(() => inTurn(measured, rendering(one))));
      for (const [name, measure] of Object.entries(ways))
        best[name] = Math.max(best[name] ?? 0, await measure());
    }
    const version = ruby && spawnSync(ruby, ["-e", "print RUBY_VERSION"], { encoding: "utf8" }).stdout;
    return { ...best, one: best.one ?? 0, all: best.all ?? 0, start, warmJobs, threadMib, threads, version };
  } finally {
    await Promise.all([...pools.map((pool) => pool.close()), system?.end()]);
  }
}

/** Measures by turns, so that a busy machine is unfair to none. The best of each counts; memory is that of the first round. */
async function starts(): Promise<StartTimes & { readonly threadMib: number }> {
  const seen: (StartTimes & { readonly threadMib: number })[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const pool = builtInRuby(MOST_THREADS);
    const cold = await effort(() => rendering(pool.open())(requestOf(0)));
    const next = await effort(() => rendering(pool.open())(requestOf(0)));
    const before = process.memoryUsage().rss;
    const more = Array.from({ length: MOST_THREADS }, () => rendering(pool.open())(requestOf(0)));
    await Promise.all(more);
    const threadMib = (process.memoryUsage().rss - before) / MOST_THREADS / 2 ** 20;
    await pool.close();
    const booting = builtInRuby(1, "/nonexistent");
    const booted = await effort(() => rendering(booting.open())(requestOf(0)));
    await booting.close();
    seen.push({ cold, booted, next, threadMib });
  }
  const best = (of: (one: StartTimes) => number) => Math.min(...seen.map(of));
  return {
    cold: best(({ cold }) => cold),
    booted: best(({ booted }) => booted),
    next: best(({ next }) => next),
    threadMib: seen[0]?.threadMib ?? 0,
  };
}

/** Processor time of the whole process, in milliseconds. */
async function effort(work: () => Promise<void>): Promise<number> {
  const begun = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / 1000;
}

async function timed(clock: Clock, work: () => Promise<void>): Promise<number> {
  const begun = clock.monotonic();
  await work();
  return clock.monotonic() - begun;
}

const rate = async (clock: Clock, count: number, work: () => Promise<void>): Promise<number> =>
  (1000 * count) / (await timed(clock, work));

/** Not where there are no namespaces. */
const works = (work: () => Promise<void>): Promise<boolean> =>
  work().then(
    () => true,
    () => false,
  );

type Render = (request: RenderRequest) => Promise<void>;

async function inTurn(requests: readonly RenderRequest[], render: Render): Promise<void> {
  for (const request of requests) await render(request);
}

const rendering =
  (renderer: Renderer): Render =>
  async (request) => {
    for (const one of await renderer.render(request, new AbortController().signal))
      if (isFailure(one)) throw new Error(`${one.name}: ${one.message}`);
  };

/** One Ruby for all, which has been started before: what a Director in Ruby does. */
function startRuby(ruby: string): { readonly render: Render; end(): Promise<void> } {
  const main = `${RUBY_PROGRAM}\nSTDOUT.sync = true\nwhile line = STDIN.gets\nputs SlipwayTemplates.render(line.chomp)\nend`;
  const child = spawn(ruby, ["-EUTF-8", "--disable-gems", "-e", main], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    render: async (request) => {
      child.stdin.write(`${encodeRequest(request)}\n`);
      const { value } = await lines.next();
      decodeAnswer(String(value), request);
    },
    end: async () => {
      const ended = once(child, "exit");
      child.stdin.end();
      await ended;
    },
  };
}

/** A Ruby for one template: what create-env of bosh's CLI does. */
function oneStart(ruby: string, request: RenderRequest): void {
  const main = `${RUBY_PROGRAM}\nputs SlipwayTemplates.render(STDIN.read)`;
  const one = { ...request, templates: request.templates.slice(0, 1) };
  const { stdout } = spawnSync(ruby, ["-EUTF-8", "--disable-gems", "-e", main], {
    input: encodeRequest(one),
    encoding: "utf8",
  });
  decodeAnswer(stdout, one);
}

function requestOf(at: number): RenderRequest {
  const ip = `10.0.${at >> 8}.${at & 255}`;
  const hub = (index: number) => ({
    ...{ name: "hub", id: `hub-${index}`, index, az: "z1", bootstrap: index === 0 },
    address: `10.0.0.${index + 10}`,
  });
  return {
    dialect: "director",
    templates: Object.entries({ monit: "check process server\n", ...TEMPLATES }).map(([name, source]) => ({
      name,
      source: Buffer.from(source),
    })),
    context: {
      ...{ deployment: "shop", name: "web", job: { name: "web" }, index: at, id: `id-${at}`, az: "z1" },
      ...{ bootstrap: at === 0, ip, address: ip, release: { name: "sample", version: "1" } },
      networks: { private: { type: "manual", ip, netmask: "255.255.0.0", gateway: "10.0.0.1" } },
      properties: SAMPLE_PROPERTIES,
      links: { hub: { instances: [hub(0), hub(1), hub(2)], properties: { port: 4222 } } },
    },
  };
}
