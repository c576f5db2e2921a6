import type { Clock } from "@slipway/kernel/clock";
import { messageTrail } from "@slipway/kernel/errors";
import { scrubUrls } from "@slipway/protocol/schema/scrub";
import { LeaseLost } from "../store/lease.ts";
import { DirectorStopping } from "./errors.ts";
import { manyLines } from "./failure.ts";
import type { Stage, StageStep } from "./task.ts";

type StepState = "started" | "in_progress" | "finished" | "failed";

export interface EventLog {
  stage(name: string, tags?: readonly string[], total?: number): Stage;
  warn(message: string): void;
  deprecated(message: string): void;
  error(code: number, message: string): void;
}

const PROGRESS_PER_STATUS = 5;

/**
 * The event log of a task: one JSON document per line, as the CLI reads it. It ends at a float or a line that is not
 * JSON, so every number goes through `whole`.
 */
export function makeEventLog(
  clock: Clock,
  signal: AbortSignal,
  write: (line: string) => void,
  /** Reports whether the task goes on later in spite of an error. */
  goesOn: (error: unknown) => boolean = () => false,
): EventLog {
  const put = (document: object) => write(eventLine(clock, document));
  return {
    stage: (name, tags = [], total) =>
      makeStage({ stage: name, tags: [...tags], total }, signal, put, goesOn),
    warn: (message) => put({ type: "warning", message: scrubUrls(message) }),
    deprecated: (message) => put({ type: "deprecation", message: scrubUrls(message) }),
    error: (code, message) => put({ error: { code: whole(code), message } }),
  };
}

export const eventLine = (clock: Clock, document: object): string =>
  `${JSON.stringify({ time: whole(clock.now() / 1000), ...document })}\n`;

const whole = (value: number | undefined): number | null =>
  value === undefined || !Number.isFinite(value) ? null : Math.trunc(value);

function makeStage(
  about: { readonly stage: string; readonly tags: readonly string[]; readonly total: number | undefined },
  signal: AbortSignal,
  put: (document: object) => void,
  goesOn: (error: unknown) => boolean,
): Stage {
  let started = 0;
  const begin = (task: string): StageStep => {
    signal.throwIfAborted();
    started += 1;
    const index = started;
    let progress = 0;
    let over = false;
    const line = (state: StepState, at: number, data?: { status?: string; error?: string }) =>
      put({
        stage: about.stage,
        tags: about.tags,
        total: whole(about.total),
        task,
        index,
        state,
        progress: at,
        ...(data === undefined ? {} : { data }),
      });
    line("started", 0);
    return {
      progress: (status) => {
        if (over) return;
        progress = Math.min(95, progress + PROGRESS_PER_STATUS);
        line("in_progress", progress, { status: scrubUrls(status) });
      },
      finished: () => {
        over = true;
        line("finished", 100);
      },
      failed: (error) => {
        over = true;
        // A task that is handed back or taken over goes on elsewhere: its step has not failed.
        if (!DirectorStopping.is(signal.reason) && !LeaseLost.is(signal.reason) && !goesOn(error))
          line("failed", 100, { error: manyLines(messageTrail(error)) || "unknown error" });
      },
    };
  };
  return {
    begin,
    step: async (task, work) => {
      const step = begin(task);
      try {
        const result = await work(step.progress);
        step.finished();
        return result;
      } catch (error) {
        step.failed(error);
        throw error;
      }
    },
  };
}
