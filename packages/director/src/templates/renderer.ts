import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import type { RenderPool } from "@slipway/engine/templates/request";
import { systemRuby } from "@slipway/engine/templates/system-ruby";
import { WasmRenderer } from "@slipway/engine/templates/wasm-renderer";
import type { Clock } from "@slipway/kernel/clock";
import { systemExec as exec } from "@slipway/kernel/exec";

/** Deadline for all templates of one job. */
const LIMIT_MS = 60_000;
const MOST_THREADS = 4;

export interface RendererOptions {
  /** A Ruby of the system, by configuration; it sees the system's programs and no other files. */
  readonly ruby: string | undefined;
  readonly stateDir: string;
  /** The program that started: the one of the threads stands beside it. */
  readonly script: string | undefined;
  readonly clock: Clock;
}

/** Opens the renderer of templates: the built-in Ruby, unless another is configured. */
export function openRenderer({ ruby, stateDir, script, clock }: RendererOptions): RenderPool {
  if (ruby !== undefined) {
    // A process for each job: nothing is left of one for another.
    const system = systemRuby({ ruby, over: stateDir, exec, clock, limit: LIMIT_MS });
    return { open: () => system, close: () => system.close() };
  }
  const worker = join(dirname(script ?? ""), "render-worker.mjs");
  const threads = Math.min(availableParallelism(), MOST_THREADS);
  return new WasmRenderer({ worker, clock, threads, limit: LIMIT_MS });
}
