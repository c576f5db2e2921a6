import { parentPort, workerData } from "node:worker_threads";
import { type LoadedRuby, loadRuby, type RubyFiles } from "./ruby-module.ts";
import { restoreRuby } from "./ruby-vm.ts";
import { WasmFile } from "./wasm-file.ts";

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
const file = await WasmFile.open(files.ruby);
// An upgrade may have replaced the files below a Director that runs.
const loaded = shared?.file === file.identity ? shared : await loadRuby(file, files);
const ruby = await restoreRuby(loaded.module, loaded.snapshot, file);
await file.close();
parentPort?.postMessage({ loaded: loaded === shared ? undefined : loaded } satisfies RenderReady);
parentPort?.on("message", (request: string) =>
  parentPort?.postMessage({ answer: ruby.render(request), memory: ruby.memory() } satisfies RenderAnswer),
);
