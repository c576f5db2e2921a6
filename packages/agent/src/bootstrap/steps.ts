import { type Backoff, delayBefore } from "@slipway/kernel/backoff";
import type { Clock } from "@slipway/kernel/clock";
import { messageTrail } from "@slipway/kernel/errors";
import type { Random } from "@slipway/kernel/random";
import type { Log } from "../log.ts";
import { StepFailed } from "../settings/errors.ts";
import type { StartupProgress } from "./startup-progress.ts";

/** One step of the start. Safe to repeat: a crash anywhere leads to all of them being run again. */
export interface StartupStep {
  readonly name: string;
  readonly run: (signal: AbortSignal) => Promise<void>;
  /** For a step that has patience of its own. */
  readonly once?: boolean;
}

export interface StepTools {
  readonly waiting: StartupProgress;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly backoff?: Backoff;
}

/** About nine minutes in all. Upstream ends at the first failure; then nobody can be told what it is. */
const PATIENCE: Backoff = { tries: 20, firstDelayMs: 1000, longestDelayMs: 30_000 };

/** Runs the steps in their order. A failing one is repeated; meanwhile its error is what the agent waits for. */
export async function runSteps(
  steps: readonly StartupStep[],
  tools: StepTools,
  signal: AbortSignal,
): Promise<void> {
  for (const step of steps) {
    tools.waiting.enter(step.name);
    const begun = tools.clock.monotonic();
    await runStep(step, tools, signal);
    tools.log.info(`start: ${step.name} done in ${Math.round(tools.clock.monotonic() - begun)} ms`);
  }
}

async function runStep(step: StartupStep, tools: StepTools, signal: AbortSignal): Promise<void> {
  const backoff = tools.backoff ?? PATIENCE;
  for (let attempt = 1; ; attempt++) {
    signal.throwIfAborted();
    try {
      return await step.run(signal);
    } catch (cause) {
      signal.throwIfAborted();
      if (step.once) throw cause;
      if (attempt >= backoff.tries) throw StepFailed({ step: step.name, tries: attempt }, { cause });
      const why = messageTrail(cause);
      tools.log.warn(`start: ${step.name} failed and is tried again: ${why}`);
      tools.waiting.on(`another try after: ${why}`);
      await tools.clock.sleep(delayBefore(attempt, backoff, tools.random), signal);
    }
  }
}
