import { parentPort, workerData } from "node:worker_threads";
import { type LoadedRuby, loadRuby, type RubyFiles } from "./ruby-module.ts";
import { restoreRuby } from "./ruby-vm.ts";

/** Data that a thread is started with: the Ruby as another thread has loaded it, otherwise its files. */
export interface RenderWorkerData {
  readonly loaded: LoadedRuby | undefined;
  readonly files: RubyFiles;
}

/** First message of a thread: the Ruby it has loaded, for the threads after it. */
export interface RenderReady {
  readonly loaded: LoadedRuby | undefined;
}

/** Answer of the thread that renders. It handles one request at a time. */
export interface RenderAnswer {
  readonly answer: string;
  /** In bytes. */
  readonly memory: number;
}

const { loaded: shared, files } = workerData as RenderWorkerData;
const loaded = shared ?? (await loadRuby(files));
const ruby = await restoreRuby(loaded.module, loaded.snapshot);
parentPort?.postMessage({ loaded: shared === undefined ? loaded : undefined } satisfies RenderReady);
parentPort?.on("message", (request: string) =>
  parentPort?.postMessage({ answer: ruby.render(request), memory: ruby.memory() } satisfies RenderAnswer),
);
