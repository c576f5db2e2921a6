import type { ConversationLine } from "@slipway/protocol/director/conversation-line";
import type { TaskType } from "@slipway/protocol/director/task";
import type { EventLog } from "./events.ts";
import type { ClaimedTask } from "./queue.ts";
import type { Stage } from "./task.ts";

/** Fields of a task whose run is watched. */
export interface WatchedTask {
  readonly id: number;
  readonly type: TaskType;
  readonly user: string;
  readonly deployment: string | undefined;
  readonly attempt: number;
  /** Id of the request that asked for the task; empty without a request. */
  readonly contextId: string;
  /** The W3C `traceparent` of that request. */
  readonly traceParent: string | undefined;
}

/** `handed-back`: the task goes on in another run. */
export type RunEnd = "done" | "error" | "cancelled" | "handed-back";

export interface StepWatch {
  /** `error` of one that failed. */
  ended(error?: unknown): void;
  /** Runs work that belongs to the step. */
  inside<T>(work: () => T): T;
  /** Makes what the caller does from here on belong to the step. */
  enter(): void;
}

/** Observer of one run. Its methods never throw and never block. */
export interface RunWatch {
  step(stage: string, step: string, tags: readonly string[]): StepWatch;
  /** A call to a CPI or an agent that has ended. */
  call(line: ConversationLine): void;
  /** `result` as the API tells it. */
  ended(how: RunEnd, result?: string): void;
}

export type TaskWatch = (task: WatchedTask) => RunWatch;

export const NO_STEP: StepWatch = {
  ended: () => undefined,
  inside: (work) => work(),
  enter: () => undefined,
};

export const UNWATCHED: RunWatch = {
  step: () => NO_STEP,
  call: () => undefined,
  ended: () => undefined,
};

/** Watches a task without its parameters: those may hold secrets. */
export function watching(task: ClaimedTask, watch: TaskWatch | undefined): RunWatch {
  const { lease, type, user, deployment, contextId, traceParent } = task;
  const { taskId: id, attempt } = lease;
  const run = watch?.({ id, attempt, type, user, deployment, contextId, traceParent }) ?? UNWATCHED;
  let over = false;
  return {
    ...run,
    ended: (how, result) => {
      if (!over) run.ended(how, result);
      over = true;
    },
  };
}

/** Combines all watches into one. */
export function watchedBy(watches: readonly TaskWatch[]): TaskWatch {
  return (task) => {
    const runs = watches.map((watch) => watch(task));
    return {
      step: (stage, step, tags) => {
        const steps = runs.map((run) => run.step(stage, step, tags));
        return {
          ended: (error) => {
            for (const one of steps) one.ended(error);
          },
          enter: () => {
            for (const one of steps) one.enter();
          },
          inside: (work) => steps.reduce<typeof work>((inner, one) => () => one.inside(inner), work)(),
        };
      },
      call: (line) => {
        for (const run of runs) run.call(line);
      },
      ended: (how, result) => {
        for (const run of runs) run.ended(how, result);
      },
    };
  };
}

/** The same stages; each step of them is seen. */
export const watchedStages =
  (events: Pick<EventLog, "stage">, watch: RunWatch): EventLog["stage"] =>
  (name, tags, total) =>
    watchedStage(events.stage(name, tags, total), { name, tags }, watch);

function watchedStage(
  stage: Stage,
  { name, tags = [] }: { readonly name: string; readonly tags?: readonly string[] | undefined },
  watch: RunWatch,
): Stage {
  return {
    begin: (task) => {
      const begun = stage.begin(task);
      const seen = watch.step(name, task, tags);
      seen.enter();
      return {
        progress: begun.progress,
        finished: () => {
          seen.ended();
          begun.finished();
        },
        failed: (error) => {
          seen.ended(error);
          begun.failed(error);
        },
      };
    },
    step: (task, work) =>
      stage.step(task, async (progress) => {
        const seen = watch.step(name, task, tags);
        try {
          const result = await seen.inside(() => work(progress));
          seen.ended();
          return result;
        } catch (error) {
          seen.ended(error);
          throw error;
        }
      }),
  };
}
