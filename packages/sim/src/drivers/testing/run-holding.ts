import type { TaskRunner } from "@slipway/director/tasks/runner";
import type { NewTask } from "@slipway/director/tasks/task";
import type { CpiResponse } from "@slipway/protocol/cpi/envelope";
import { latch } from "@slipway/testkit/waiting";
import type { Interference, OutsideCall } from "../watch-clients.ts";
import type { Bench, BenchRunOptions, EndedTask } from "./bench.ts";

export interface RunHoldingOptions extends BenchRunOptions {
  /** The call to the CPI that is held until the other task has ended. */
  readonly at: (call: OutsideCall) => boolean;
  /** `answer`: the call is carried out, and its answer is held. Default: the call is carried out afterwards. */
  readonly holds?: "answer" | undefined;
  /** The task that runs while the call is held. */
  readonly run: NewTask;
}

/** Runs a task and holds one of its calls to the CPI until another task has ended. Returns how both ended. */
export async function runHolding(
  bench: Bench,
  task: NewTask,
  { at, run, interference, holds, ...options }: RunHoldingOptions,
): Promise<readonly [held: EndedTask, other: Omit<EndedTask, "calls" | "changing">]> {
  const director = latch<TaskRunner>();
  let other: ReturnType<Bench["endOf"]> | undefined;
  const cpi: NonNullable<Interference["cpi"]> = async (call, carryOut): Promise<CpiResponse> => {
    const answer = async () => (await interference?.cpi?.(call, carryOut)) ?? (await carryOut());
    if (other !== undefined || !at(call)) return await answer();
    const early = holds === "answer" ? await answer() : undefined;
    other = director.opened.then(async (its) => await bench.endOf(await its.enqueue(run)));
    await other;
    return early ?? (await answer());
  };
  const held = await bench.run(task, {
    ...options,
    onQueued: (_, its) => director.open(its),
    interference: { ...interference, cpi },
  });
  if (other === undefined) throw new Error("the call that was to be held was never made");
  return [held, await other];
}
