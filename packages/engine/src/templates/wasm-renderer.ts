import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Worker } from "node:worker_threads";
import type { Clock } from "@slipway/kernel/clock";
import { withDeadline } from "@slipway/kernel/deadline";
import { toError } from "@slipway/kernel/errors";
import { RendererClosed, RubyDidNotStart } from "./errors.ts";
import type { RenderAnswer, RenderReady, RenderWorkerData } from "./render-worker.ts";
import type { Renderer, Rendering, RenderPool, RenderRequest, Template } from "./request.ts";
import { type LoadedRuby, rubyFile, SNAPSHOT_FILE } from "./ruby-module.ts";
import { decodeAnswer, encodeRequest } from "./ruby-wire.ts";

export interface WasmRendererOptions {
  /** The path of the threads' program. */
  readonly worker: string;
  /** The path of the Ruby; default: the one that is installed with the program of the threads. */
  readonly ruby?: string | undefined;
  /** The path of the Ruby's snapshot; default: beside the program of the threads. */
  readonly snapshot?: string | undefined;
  readonly clock: Clock;
  /** How many templates are rendered at once. */
  readonly threads: number;
  /** How long one job's templates may take, in milliseconds. */
  readonly limit: number;
}

/** A Ruby never gives memory back. One that holds this much is replaced when it has answered. */
const ENOUGH_MEMORY = 256 * 2 ** 20;
const BOOT_LIMIT = 120_000;
/** Threads and the compiled Ruby are kept this long without use. */
const REST_MS = 60_000;
/** Two tasks that render by turns keep their threads; further tasks take the place of the thread that idles longest. */
const THREADS_KEPT = 2;

class Overdue extends Error {}

/** One task's claim on threads; the thread of one task never serves another. */
interface Tenant {
  closed: boolean;
}

interface IdleThread {
  readonly tenant: Tenant;
  readonly worker: Worker;
}

/**
 * Renders in threads of this process, each with a Ruby of its own that starts from a snapshot. A thread that takes too long
 * or dies is ended, and only the template that did it fails: the others of its job are rendered again, one by one.
 */
export class WasmRenderer implements RenderPool {
  readonly #options: WasmRendererOptions;
  /** Longest idle first. */
  readonly #idle: IdleThread[] = [];
  readonly #waiting: (() => void)[] = [];
  readonly #all = new Set<Worker>();
  #busy = 0;
  /** Resolves to undefined if it could not be loaded. */
  #loaded: Promise<LoadedRuby | undefined> | undefined;
  #cancelRest = () => {};
  #closed = false;

  constructor(options: WasmRendererOptions) {
    this.#options = options;
  }

  open(): Renderer {
    const tenant: Tenant = { closed: false };
    return {
      identity: () => this.#identity(),
      render: (request, signal) => this.#render(tenant, request, signal),
      close: async () => {
        tenant.closed = true;
        await this.#end((idle) => idle.tenant === tenant);
      },
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelRest();
    for (const wake of this.#waiting.splice(0)) wake();
    await Promise.all([...this.#all].map((worker) => worker.terminate()));
  }

  /** Read each time: an upgrade may replace the files below a Director that runs. */
  async #identity(): Promise<string> {
    const { worker, ruby = rubyFile(worker) } = this.#options;
    const [program, { size, mtimeMs }] = await Promise.all([readFile(worker), stat(ruby)]);
    return createHash("sha256").update(`${ruby} ${size} ${mtimeMs} `).update(program).digest("hex");
  }

  async #render(tenant: Tenant, request: RenderRequest, signal: AbortSignal): Promise<readonly Rendering[]> {
    if (request.templates.length === 0) return [];
    await this.#turn(tenant, signal);
    try {
      return await this.#renderAll(tenant, request, signal);
    } finally {
      this.#busy--;
      this.#waiting.shift()?.();
      if (this.#busy === 0 && !this.#closed)
        this.#cancelRest = this.#options.clock.after(REST_MS, () => {
          this.#loaded = undefined;
          void this.#end(() => true);
        });
    }
  }

  async #renderAll(
    tenant: Tenant,
    request: RenderRequest,
    signal: AbortSignal,
  ): Promise<readonly Rendering[]> {
    try {
      return await this.#ask(tenant, request, signal);
    } catch (error) {
      if (signal.aborted || this.#closed || RubyDidNotStart.is(error)) throw error;
      const [template, ...others] = request.templates;
      if (template === undefined) return [];
      if (others.length === 0) return [this.#failure(template, error)];
      const found: Rendering[] = [];
      for (const one of request.templates)
        found.push(...(await this.#renderAll(tenant, { ...request, templates: [one] }, signal)));
      return found;
    }
  }

  #failure({ name }: Template, error: unknown): Rendering {
    const { limit } = this.#options;
    const message =
      error instanceof Overdue
        ? `did not finish within ${limit / 1000} s`
        : `ended the built-in Ruby: ${toError(error).message}`;
    return { name, line: undefined, message };
  }

  async #ask(tenant: Tenant, request: RenderRequest, signal: AbortSignal): Promise<readonly Rendering[]> {
    const worker = this.#takeIdle(tenant) ?? (await this.#start(signal));
    worker.ref();
    try {
      const { answer, memory } = await this.#within<RenderAnswer>(worker, this.#options.limit, signal, () =>
        worker.postMessage(encodeRequest(request)),
      );
      if (memory < ENOUGH_MEMORY && !this.#closed && !tenant.closed) {
        // An idle thread keeps no program from ending.
        worker.unref();
        this.#idle.push({ tenant, worker });
      } else await worker.terminate();
      return decodeAnswer(answer, request);
    } catch (error) {
      await worker.terminate();
      throw error;
    }
  }

  #takeIdle(tenant: Tenant): Worker | undefined {
    const at = this.#idle.findLastIndex((idle) => idle.tenant === tenant);
    return at === -1 ? undefined : this.#idle.splice(at, 1)[0]?.worker;
  }

  async #end(which: (idle: IdleThread) => boolean): Promise<void> {
    const ended = this.#idle.filter(which);
    for (const one of ended) this.#idle.splice(this.#idle.indexOf(one), 1);
    await Promise.all(ended.map(({ worker }) => worker.terminate()));
  }

  /** Waits for the next message of a thread; rejects when the thread ends, the time is up or the caller gives up. */
  async #within<T>(worker: Worker, ms: number, signal: AbortSignal, begin: () => void): Promise<T> {
    const end = new AbortController();
    const cancel = this.#options.clock.after(ms, () => end.abort(new Overdue()));
    const cut = AbortSignal.any([end.signal, signal]);
    const gone = once(worker, "exit", { signal: cut }).then(() => {
      throw new Error("its thread ended");
    });
    gone.catch(() => undefined);
    try {
      const said = once(worker, "message", { signal: cut });
      begin();
      const [answer] = await Promise.race([said, gone]);
      return answer as T;
    } catch (error) {
      if (cut.aborted) throw cut.reason;
      throw error;
    } finally {
      cancel();
      end.abort(new Error("answered"));
    }
  }

  async #start(signal: AbortSignal): Promise<Worker> {
    if (this.#closed) throw RendererClosed({});
    const { clock } = this.#options;
    const tooMany = this.#all.size >= THREADS_KEPT * this.#options.threads;
    if (tooMany) await this.#end((idle) => idle === this.#idle[0]);
    for (let loading = this.#loaded; loading !== undefined; loading = this.#loaded) {
      // The thread that loads may be ended by its own caller: then the next one loads.
      const pending = loading;
      const loaded = await withDeadline("loading Ruby", BOOT_LIMIT, clock, signal, () => pending);
      if (loaded !== undefined) return (await this.#startFrom(loaded, signal)).worker;
    }
    const first = this.#startFrom(undefined, signal);
    const loading = first.then(
      ({ loaded }) => loaded,
      () => undefined,
    );
    this.#loaded = loading;
    void loading.then((loaded) => {
      if (loaded === undefined && this.#loaded === loading) this.#loaded = undefined;
    });
    return (await first).worker;
  }

  async #startFrom(
    loaded: LoadedRuby | undefined,
    signal: AbortSignal,
  ): Promise<{ readonly worker: Worker } & RenderReady> {
    const { worker: program, ruby, snapshot } = this.#options;
    let worker: Worker | undefined;
    try {
      const files = {
        ruby: ruby ?? rubyFile(program),
        snapshot: snapshot ?? join(dirname(program), SNAPSHOT_FILE),
      };
      worker = new Worker(program, {
        workerData: { loaded, files } satisfies RenderWorkerData,
        env: {},
        stdout: false,
      });
      const started = worker;
      this.#all.add(started);
      started.once("exit", () => this.#all.delete(started));
      const ready = await this.#within<RenderReady>(started, BOOT_LIMIT, signal, () => undefined);
      return { worker: started, ...ready };
    } catch (error) {
      await worker?.terminate();
      if (signal.aborted) throw error;
      throw RubyDidNotStart({ why: toError(error).message }, { cause: error });
    }
  }

  async #turn(tenant: Tenant, caller: AbortSignal): Promise<void> {
    // Of its own: many wait with the caller's at once.
    const signal = AbortSignal.any([caller]);
    while (!this.#closed && this.#busy >= this.#options.threads) {
      await new Promise<void>((resolve, reject) => {
        const wake = () => {
          signal.removeEventListener("abort", onAbort);
          resolve();
        };
        const onAbort = () => {
          this.#waiting.splice(this.#waiting.indexOf(wake), 1);
          reject(signal.reason as Error);
        };
        this.#waiting.push(wake);
        signal.addEventListener("abort", onAbort, { once: true });
      });
    }
    if (this.#closed || tenant.closed) throw RendererClosed({});
    this.#busy++;
    this.#cancelRest();
  }
}
