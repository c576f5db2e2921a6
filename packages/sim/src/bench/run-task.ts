import { embed } from "@slipway/cpi-sdk/embed";
import type { Store } from "@slipway/director/store/open";
import type { TaskRunner } from "@slipway/director/tasks/runner";
import type { NewTask } from "@slipway/director/tasks/task";
import type { Clock } from "@slipway/kernel/clock";
import { directorInSim, type SimDirectorOptions } from "../director/director-in-sim.ts";
import { seed } from "../director/seed.ts";
import { askSimAgent } from "../world/sim-agent.ts";
import { simCpi } from "../world/sim-cpi.ts";
import type { SimWorld } from "../world/world.ts";

/** A Director for a world of its own, which has been seeded. */
export async function startIn(
  world: SimWorld,
  store: Store,
  given: Pick<SimDirectorOptions, "clock" | "random" | "uploadsDir" | "renderer">,
): Promise<TaskRunner> {
  await seed(world, store.db);
  const cpi = embed(simCpi(world));
  const director = directorInSim({
    ...given,
    store,
    clients: {
      cpi: (request) => cpi.request(request),
      ask: (...message) => Promise.resolve(askSimAgent(world, ...message)),
    },
    onError: (error) => process.stderr.write(`${String(error)}\n`),
  });
  director.start();
  return director;
}

/** Returns when the task is done; what becomes of it otherwise is an error. */
export async function runTask(
  director: TaskRunner,
  store: Store,
  task: NewTask,
  clock: Clock,
): Promise<void> {
  const id = await director.enqueue(task);
  for (;;) {
    const { state, result } = await store.db
      .selectFrom("tasks")
      .select(["state", "result"])
      .where("id", "=", id)
      .executeTakeFirstOrThrow();
    if (state === "done") return;
    if (state === "error" || state === "cancelled")
      throw new Error(`${task.description} ended as ${state}: ${result}`);
    await clock.sleep(5);
  }
}
