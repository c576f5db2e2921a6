import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { embed } from "@slipway/cpi-sdk/embed";
import type { Store } from "@slipway/director/store/open";
import type { TaskRunner } from "@slipway/director/tasks/runner";
import type { Clock } from "@slipway/kernel/clock";
import type { Random } from "@slipway/kernel/random";
import { deployTask } from "../crash/scenarios/tasks.ts";
import { directorInSim } from "../director/director-in-sim.ts";
import { seed } from "../director/seed.ts";
import { askSimAgent } from "../world/sim-agent.ts";
import { simCpi } from "../world/sim-cpi.ts";
import { commitsPerSecond } from "./commits.ts";
import { withStore } from "./database.ts";
import { type Effort, effortOf, QueryWatch } from "./effort.ts";
import { FastWorld } from "./fast-world.ts";
import { sketchOf } from "./sketch.ts";

export interface DeployReport {
  readonly instances: number;
  /** The same server, one row and one commit at a time, 32 connections: what no Director could beat. */
  readonly commitsPerSecond: number;
  readonly create: Effort;
  readonly same: Effort;
}

/** Deploys to a cloud and agents that cost nothing, then the same again. */
export function deployBench(instances: number, clock: Clock, random: Random): Promise<DeployReport> {
  return withStore(clock, async ({ dir, database, store }) => {
    const commits = await commitsPerSecond(database.connection, clock);
    const watch = new QueryWatch(clock);
    const world = new FastWorld();
    const director = await startIn(world, store, join(dir, "uploads"), { clock, random });
    try {
      const measured = { clock, watch, server: database.pid() };
      const deploy = () => run(director, store, instances, clock);
      const create = await effortOf(deploy, measured);
      if (world.vms.size !== instances) throw new Error(`${world.vms.size} VMs, not ${instances}`);
      const same = await effortOf(deploy, measured);
      if (world.violations.length > 0) throw new Error(world.violations.join("; "));
      return { instances, commitsPerSecond: commits, create, same };
    } finally {
      await director.stop();
    }
  });
}

async function startIn(
  world: FastWorld,
  store: Store,
  uploadsDir: string,
  given: { readonly clock: Clock; readonly random: Random },
): Promise<TaskRunner> {
  await mkdir(uploadsDir, { recursive: true });
  await seed(world, store.db);
  const cpi = embed(simCpi(world));
  const director = directorInSim({
    store,
    clients: {
      cpi: (request) => cpi.request(request),
      ask: (...message) => Promise.resolve(askSimAgent(world, ...message)),
    },
    ...given,
    uploadsDir,
    onError: (error) => process.stderr.write(`${String(error)}\n`),
  });
  director.start();
  return director;
}

async function run(director: TaskRunner, store: Store, instances: number, clock: Clock): Promise<void> {
  const id = await director.enqueue(deployTask(sketchOf(instances)));
  for (;;) {
    const { state, result } = await store.db
      .selectFrom("tasks")
      .select(["state", "result"])
      .where("id", "=", id)
      .executeTakeFirstOrThrow();
    if (state === "done") return;
    if (state === "error" || state === "cancelled")
      throw new Error(`the deploy ended as ${state}: ${result}`);
    await clock.sleep(5);
  }
}
