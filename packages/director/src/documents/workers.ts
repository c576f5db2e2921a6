import { Worker } from "node:worker_threads";
import type { Clock } from "@slipway/kernel/clock";
import { systemCode } from "@slipway/kernel/errors";
import { answerHere, type Documents } from "./documents.ts";
import { TooCostly, TooManyDocuments, WorkerFailed } from "./errors.ts";
import type { Questions } from "./questions.ts";
import { type Answered, errorOf, ROLE } from "./serve.ts";

export interface WorkersOptions {
  /** A script that calls `servesDocuments` before anything else. */
  readonly script: string;
  readonly clock: Clock;
  readonly threads?: number;
  readonly limitMs?: number;
  readonly memoryMb?: number;
}

/** Up to this length, without aliases, a document takes less time than the way to another thread. */
const SMALL = 4096;
/** What may take any time, however little is asked: schemas have regular expressions. */
const BOUNDLESS: ReadonlySet<keyof Questions> = new Set(["propertyProblems"]);
const MOST_WAITING = 100;
const LIMIT_MS = 30_000;
const MEMORY_MB = 512;

interface Job {
  readonly name: keyof Questions;
  readonly question: unknown;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Reads documents on threads of their own, each question within bounds of time and memory, so that no document keeps
 * the Director from answering others. Threads start when there is work.
 */
export class DocumentWorkers implements Documents {
  readonly #options: WorkersOptions;
  readonly #waiting: Job[] = [];
  readonly #idle: Worker[] = [];
  readonly #all = new Set<Worker>();

  constructor(options: WorkersOptions) {
    this.#options = options;
  }

  ask: Documents["ask"] = (name, question) => {
    if (!BOUNDLESS.has(name) && isSmall(question))
      return Promise.resolve().then(() => answerHere(name, question));
    return new Promise((resolve, reject) => {
      if (this.#waiting.length >= MOST_WAITING) return reject(TooManyDocuments({ most: MOST_WAITING }));
      this.#waiting.push({ name, question, resolve: resolve as Job["resolve"], reject });
      this.#next();
    });
  };

  async close(): Promise<void> {
    for (const job of this.#waiting.splice(0)) job.reject(WorkerFailed({}));
    await Promise.all([...this.#all].map((worker) => worker.terminate()));
  }

  #next(): void {
    const worker = this.#idle.pop() ?? this.#start();
    if (worker === undefined) return;
    const job = this.#waiting.shift();
    if (job === undefined) this.#idle.push(worker);
    else this.#run(worker, job);
  }

  #start(): Worker | undefined {
    const { script, threads = 2, memoryMb = MEMORY_MB } = this.#options;
    if (this.#all.size >= threads) return undefined;
    const worker = new Worker(script, {
      workerData: ROLE,
      // Nothing of the Director's: not its arguments, not its environment.
      argv: [],
      env: {},
      stdin: false,
      resourceLimits: { maxOldGenerationSizeMb: memoryMb, stackSizeMb: 4 },
    });
    worker.unref();
    // Between two questions nobody waits for it; the next one finds it gone.
    worker.on("error", () => undefined);
    this.#all.add(worker);
    return worker;
  }

  #run(worker: Worker, job: Job): void {
    const { clock, limitMs = LIMIT_MS } = this.#options;
    const settle = (settled: () => void, usable: boolean) => {
      cancel();
      worker.off("message", onMessage).off("error", onError).off("exit", onExit);
      worker.unref();
      if (usable) this.#idle.push(worker);
      else {
        this.#all.delete(worker);
        void worker.terminate();
      }
      settled();
      this.#next();
    };
    const cancel = clock.after(limitMs, () =>
      settle(() => job.reject(TooCostly({ why: `it takes more than ${limitMs / 1000} s` })), false),
    );
    worker.ref();
    const onMessage = (said: Answered) => settle(() => finish(job, said), true);
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

/** By all the text in it. */
function isSmall(question: unknown): boolean {
  let length = 0;
  let plain = true;
  const look = (value: unknown): void => {
    if (typeof value === "string") {
      length += value.length;
      // An anchor may be copied out any number of times.
      plain &&= length <= SMALL && !value.includes("&");
    } else if (typeof value === "object" && value !== null) Object.values(value).forEach(look);
  };
  look(question);
  return plain;
}
