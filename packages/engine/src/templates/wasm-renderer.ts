import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { Clock } from "@slipway/kernel/clock";
import { toError } from "@slipway/kernel/errors";
import { RendererClosed, RubyDidNotStart } from "./errors.ts";
import type { RenderAnswer } from "./render-worker.ts";
import type { Renderer, Rendering, RenderRequest, Template } from "./request.ts";
import { compileRuby, rubyFile } from "./ruby-module.ts";
import { decodeAnswer, encodeRequest } from "./ruby-wire.ts";
import type {} from "./webassembly.ts";

export interface WasmRendererOptions {
  /** The path of the threads' program. */
  readonly worker: string;
  /** The path of the Ruby; default: the one that is installed with the program of the threads. */
  readonly ruby?: string | undefined;
  readonly clock: Clock;
  /** How many templates are rendered at once. */
  readonly threads: number;
  /** How long one job's templates may take, in milliseconds. */
  readonly limit: number;
}

/** A Ruby never gives memory back. One that holds this much is replaced when it has answered. */
const ENOUGH_MEMORY = 256 * 2 ** 20;
const BOOT_LIMIT = 120_000;

class Overdue extends Error {}

/**
 * Renders in threads of this process, each with a Ruby of its own. A thread that takes too long or dies is ended, and
 * only the template that did it fails: the others of its job are rendered again, one by one.
 */
export class WasmRenderer implements Renderer {
  readonly #options: WasmRendererOptions;
  readonly #idle: Worker[] = [];
  readonly #waiting: (() => void)[] = [];
  readonly #all = new Set<Worker>();
  #busy = 0;
  #module: Promise<WebAssembly.Module> | undefined;
  #closed = false;

  constructor(options: WasmRendererOptions) {
    this.#options = options;
  }

  async render(request: RenderRequest, signal: AbortSignal): Promise<readonly Rendering[]> {
    if (request.templates.length === 0) return [];
    await this.#turn(signal);
    try {
      return await this.#renderAll(request, signal);
    } finally {
      this.#busy--;
      this.#waiting.shift()?.();
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const wake of this.#waiting.splice(0)) wake();
    await Promise.all([...this.#all].map((worker) => worker.terminate()));
  }

  async #renderAll(request: RenderRequest, signal: AbortSignal): Promise<readonly Rendering[]> {
    try {
      return await this.#ask(request, signal);
    } catch (error) {
      if (signal.aborted || this.#closed || RubyDidNotStart.is(error)) throw error;
      if (request.templates.length > 1) return await this.#oneByOne(request, signal);
      const [template] = request.templates;
      return template === undefined ? [] : [this.#failure(template, error)];
    }
  }

  async #oneByOne(request: RenderRequest, signal: AbortSignal): Promise<readonly Rendering[]> {
    const found: Rendering[] = [];
    for (const template of request.templates)
      found.push(...(await this.#renderAll({ ...request, templates: [template] }, signal)));
    return found;
  }

  #failure({ name }: Template, error: unknown): Rendering {
    const { limit } = this.#options;
    const message =
      error instanceof Overdue
        ? `did not finish within ${limit / 1000} s`
        : `ended the built-in Ruby: ${toError(error).message}`;
    return { name, line: undefined, message };
  }

  async #ask(request: RenderRequest, signal: AbortSignal): Promise<readonly Rendering[]> {
    const worker = this.#idle.pop() ?? (await this.#boot(signal));
    worker.ref();
    try {
      const { answer, memory } = await this.#within(worker, this.#options.limit, signal, () =>
        worker.postMessage(encodeRequest(request)),
      );
      if (memory < ENOUGH_MEMORY && !this.#closed) {
        // An idle thread keeps no program from ending.
        worker.unref();
        this.#idle.push(worker);
      } else await worker.terminate();
      return decodeAnswer(answer, request);
    } catch (error) {
      await worker.terminate();
      throw error;
    }
  }

  /** The next message of the thread; its end, the time's end or the caller's end come as errors. */
  async #within(worker: Worker, ms: number, signal: AbortSignal, begin: () => void): Promise<RenderAnswer> {
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
      return answer as RenderAnswer;
    } catch (error) {
      if (cut.aborted) throw cut.reason;
      throw error;
    } finally {
      cancel();
      end.abort(new Error("answered"));
    }
  }

  async #boot(signal: AbortSignal): Promise<Worker> {
    if (this.#closed) throw RendererClosed({});
    const { worker: program, ruby } = this.#options;
    try {
      this.#module ??= compileRuby(ruby ?? rubyFile(program));
      const worker = new Worker(program, {
        workerData: { module: await this.#module },
        env: {},
        stdout: false,
      });
      this.#all.add(worker);
      worker.once("exit", () => this.#all.delete(worker));
      await this.#within(worker, BOOT_LIMIT, signal, () => undefined);
      return worker;
    } catch (error) {
      if (signal.aborted) throw error;
      this.#module = undefined;
      throw RubyDidNotStart({ why: toError(error).message }, { cause: error });
    }
  }

  async #turn(caller: AbortSignal): Promise<void> {
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
    if (this.#closed) throw RendererClosed({});
    this.#busy++;
  }
}
