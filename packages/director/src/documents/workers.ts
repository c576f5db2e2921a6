import { Worker } from "node:worker_threads";
import type { Clock } from "@slipway/kernel/clock";
import { systemCode } from "@slipway/kernel/errors";
import { type Asker, answerHere, type Documents } from "./documents.ts";
import { TooCostly, TooManyDocuments, WorkerFailed } from "./errors.ts";
import { FairQueue, type Share } from "./fair-queue.ts";
import type { Questions } from "./questions.ts";
import { type Answered, errorOf, type Ready, ROLE } from "./serve.ts";
import { ThreadTime } from "./thread-time.ts";

export interface WorkersOptions {
  /** A script that calls `servesDocuments` before anything else. */
  readonly script: string;
  readonly clock: Clock;
  readonly threads?: number;
  /** Processor time for one question. */
  readonly limitMs?: number;
  readonly memoryMb?: number;
  /** Processor time of a reader within a minute. */
  readonly readerBudgetMs?: number;
}

/** Up to this length, without aliases, a document takes less time than the way to another thread. */
const SMALL = 4096;
/** Questions that may take any time, however small they are: schemas have regular expressions. */
const BOUNDLESS: ReadonlySet<keyof Questions> = new Set(["propertyProblems"]);
const MOST_WAITING = 100;
const MOST_CHARACTERS = 256 << 20;
const LIMIT_MS = 30_000;
const MEMORY_MB = 512;
/** Shares of a user, and of a user who may only read. */
const USER = { waiting: 32, characters: 64 << 20 };
const READER = { waiting: 16, characters: 16 << 20, limitMs: 10_000, budgetMs: 20_000 };

interface Job {
  readonly name: keyof Questions;
  readonly question: unknown;
  readonly characters: number;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: unknown) => void;
}

interface Thread {
  readonly worker: Worker;
  readonly time: ThreadTime;
}

/**
 * Reads documents on threads of their own, each question within bounds of processor time and memory, so that no document
 * keeps the Director from answering others. Users share the threads fairly, and none gets all of them: deploys and other
 * users always find a thread. Threads start when there is work.
 */
export class DocumentWorkers implements Documents {
  readonly #options: WorkersOptions;
  readonly #threads: number;
  readonly #queue: FairQueue<Job>;
  readonly #idle: Thread[] = [];
  readonly #all = new Set<Thread>();
  #cancelRenewal: () => void = () => undefined;

  constructor(options: WorkersOptions) {
    this.#options = options;
    this.#threads = options.threads ?? 2;
    this.#queue = new FairQueue(options.clock, (asker) => this.#shareOf(asker));
  }

  ask: Documents["ask"] = (name, question) => this.#ask(undefined, name, question);

  askedBy(asker: Asker): Documents {
    return {
      ask: (name, question) => this.#ask(asker, name, question),
      askedBy: (other) => this.askedBy(other),
      close: () => this.close(),
    };
  }

  async close(): Promise<void> {
    this.#cancelRenewal();
    for (const job of this.#queue.drain()) job.reject(WorkerFailed({}));
    await Promise.all([...this.#all].map(({ worker }) => worker.terminate()));
  }

  #ask<K extends keyof Questions>(
    asker: Asker | undefined,
    name: K,
    question: Parameters<Questions[K]>[0],
  ): Promise<ReturnType<Questions[K]>> {
    const { characters, small } = measure(question);
    if (small && !BOUNDLESS.has(name)) return Promise.resolve().then(() => answerHere(name, question));
    return new Promise((resolve, reject) => {
      const job: Job = { name, question, characters, resolve: resolve as Job["resolve"], reject };
      if (!this.#queue.add(asker, job))
        return reject(TooManyDocuments({ most: this.#shareOf(asker).waiting }));
      this.#next();
    });
  }

  #shareOf(asker: Asker | undefined): Share {
    const { limitMs = LIMIT_MS, readerBudgetMs = READER.budgetMs } = this.#options;
    const all = { limitMs, budgetMs: Number.POSITIVE_INFINITY };
    if (asker === undefined)
      return { ...all, waiting: MOST_WAITING, characters: MOST_CHARACTERS, threads: this.#threads };
    const user = { ...all, ...USER, threads: Math.max(1, this.#threads - 1) };
    if (!asker.reader) return user;
    return { ...user, ...READER, limitMs: Math.min(limitMs, READER.limitMs), budgetMs: readerBudgetMs };
  }

  /** Gives free threads the questions whose turn it is. */
  #next(): void {
    this.#cancelRenewal();
    for (;;) {
      const thread = this.#idle.pop() ?? this.#start();
      if (thread === undefined) return;
      const turn = this.#queue.take();
      if (turn === undefined) {
        this.#idle.push(thread);
        break;
      }
      this.#run(thread, turn.job, turn.share, turn.done);
    }
    const { renewalMs } = this.#queue;
    if (renewalMs !== undefined)
      this.#cancelRenewal = this.#options.clock.after(renewalMs, () => this.#next());
  }

  #start(): Thread | undefined {
    const { script, clock, memoryMb = MEMORY_MB } = this.#options;
    if (this.#all.size >= this.#threads) return undefined;
    const worker = new Worker(script, {
      workerData: ROLE,
      // Nothing of the Director's: not its arguments, not its environment.
      argv: [],
      env: {},
      stdin: false,
      resourceLimits: { maxOldGenerationSizeMb: memoryMb, stackSizeMb: 4 },
    });
    const time = new ThreadTime(clock);
    worker.once("message", ({ ready }: Ready) => time.begin(ready.proc));
    worker.unref();
    // Between two questions no caller waits for the thread; the next question finds it gone.
    worker.on("error", () => undefined);
    const thread = { worker, time };
    this.#all.add(thread);
    return thread;
  }

  #run(thread: Thread, job: Job, { limitMs }: Share, done: (spentMs: number) => void): void {
    const { worker, time } = thread;
    const settle = (settled: () => void, usable: boolean) => {
      stop();
      worker.off("message", onMessage).off("error", onError).off("exit", onExit);
      worker.unref();
      done(time.spentMs());
      if (usable) this.#idle.push(thread);
      else {
        this.#all.delete(thread);
        void worker.terminate();
      }
      settled();
      this.#next();
    };
    const stop = time.limit(limitMs, (why) => settle(() => job.reject(TooCostly({ why })), false));
    worker.ref();
    const onMessage = (said: Answered | Ready) => {
      if (!("ready" in said)) settle(() => finish(job, said), true);
    };
    const onError = (error: unknown) => settle(() => job.reject(failure(error)), false);
    const onExit = () => settle(() => job.reject(WorkerFailed({})), false);
    worker.on("message", onMessage).on("error", onError).on("exit", onExit);
    worker.postMessage({ name: job.name, question: job.question });
  }
}

function finish(job: Job, said: Answered): void {
  if ("answer" in said) job.resolve(said.answer);
  else if ("code" in said) job.reject(errorOf(said.code, said.params) ?? WorkerFailed({}));
  else job.reject(WorkerFailed({}, { cause: said.bug }));
}

const failure = (error: unknown) =>
  systemCode(error) === "ERR_WORKER_OUT_OF_MEMORY"
    ? TooCostly({ why: "it takes too much memory" })
    : WorkerFailed({}, { cause: error });

/** Measures a question by all the text in it. */
function measure(question: unknown): { readonly characters: number; readonly small: boolean } {
  let characters = 0;
  let plain = true;
  const look = (value: unknown): void => {
    if (typeof value === "string") {
      characters += value.length;
      // An anchor may be copied out any number of times.
      plain &&= characters <= SMALL && !value.includes("&");
    } else if (typeof value === "object" && value !== null) Object.values(value).forEach(look);
  };
  look(question);
  return { characters, small: plain };
}
