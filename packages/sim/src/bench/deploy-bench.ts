import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "@slipway/kernel/clock";
import type { Random } from "@slipway/kernel/random";
import { deployTask } from "../crash/scenarios/tasks.ts";
import { commitsPerSecond } from "./commits.ts";
import { withStore } from "./database.ts";
import { type Effort, effortOf, QueryWatch } from "./effort.ts";
import { FastWorld } from "./fast-world.ts";
import { runTask, startIn } from "./run-task.ts";
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
    const uploadsDir = join(dir, "uploads");
    await mkdir(uploadsDir, { recursive: true });
    const director = await startIn(world, store, { clock, random, uploadsDir });
    try {
      const measured = { clock, watch, server: database.pid() };
      const deploy = () => runTask(director, store, deployTask(sketchOf(instances)), clock);
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
