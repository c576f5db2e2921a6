import { parentPort, workerData } from "node:worker_threads";
import { bootRuby } from "./ruby-vm.ts";
import type {} from "./webassembly.ts";

/** What the thread that renders is asked and answers, one at a time. */
export interface RenderAnswer {
  readonly answer: string;
  /** In bytes. */
  readonly memory: number;
}

const ruby = await bootRuby((workerData as { module: WebAssembly.Module }).module);
const answer = (text: string) =>
  parentPort?.postMessage({ answer: text, memory: ruby.memory() } satisfies RenderAnswer);
// It is ready.
answer("");
parentPort?.on("message", (request: string) => answer(ruby.render(request)));
