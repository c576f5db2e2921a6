import type { NewTask } from "@slipway/director/tasks/task";
import { CpiLost } from "@slipway/engine/clouds/cloud";
import type { Interference, OutsideCall } from "../watch-clients.ts";
import type { Bench, EndedTask } from "./bench.ts";

/** Ends of the current call when its task is canceled: it goes on, or is stopped before or after the work. */
export const WAYS = ["goes on", "stopped before", "stopped after"] as const;

export interface CancelCase {
  readonly call: OutsideCall;
  readonly way: (typeof WAYS)[number];
}

/** Cancels the task at one of its calls. */
export async function runAndCancel(
  bench: Bench,
  task: NewTask,
  { call, way }: CancelCase,
  runSeed: string,
): Promise<EndedTask> {
  let tell: (cancel: () => Promise<unknown>) => void = () => undefined;
  const queued = new Promise<() => Promise<unknown>>((resolve) => {
    tell = resolve;
  });
  const stopped = async <T>(carryOut: () => Promise<T>, stop: () => T | Promise<T>): Promise<T> => {
    const cancel = await queued;
    if (way === "stopped after") await carryOut();
    await cancel();
    return way === "goes on" ? await carryOut() : await stop();
  };
  const interference: Interference = {
    cpi: (one, carryOut) =>
      one.nth !== call.nth
        ? undefined
        : stopped(carryOut, () => {
            throw new CpiLost(one.method, "the CPI was stopped");
          }),
    ask: (one, carryOut) =>
      one.nth !== call.nth ? undefined : stopped(carryOut, () => ({ silent: "it was not waited for" })),
  };
  return await bench.run(task, {
    interference,
    seed: runSeed,
    onQueued: (id, director) => tell(() => director.cancel(id)),
  });
}
