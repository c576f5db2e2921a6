import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { NewTask } from "@slipway/director/tasks/task";
import type { RenderPool } from "@slipway/engine/templates/request";
import type { Clock } from "@slipway/kernel/clock";
import type { Random } from "@slipway/kernel/random";
import { deployTask, taskOf } from "../crash/scenarios/tasks.ts";
import type { GroupSketch, ManifestSketch } from "../director/manifests.ts";
import { releaseArchive } from "../director/release-archive.ts";
import { withStore } from "./database.ts";
import { type Effort, effortOf, QueryWatch } from "./effort.ts";
import { FastWorld } from "./fast-world.ts";
import { runTask, startIn } from "./run-task.ts";
import { SAMPLE_PROPERTIES, sampleRelease } from "./sample-release.ts";
import { sketchOf } from "./sketch.ts";

export interface JobsReport {
  /** One instance, when no package is compiled, and another when all are. */
  readonly uncompiled: Effort;
  readonly compiled: Effort;
  /** All instances, without any jobs, with them, and with nothing changed. */
  readonly bare: Effort;
  readonly create: Effort;
  readonly same: Effort;
}

export interface JobsSize {
  readonly instances: number;
  readonly jobs: number;
}

/** Deploys with releases and jobs, to a cloud and agents that cost nothing. */
export function jobsBench(
  size: JobsSize,
  renderer: RenderPool | undefined,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
): Promise<JobsReport> {
  return withStore(clock, async ({ dir, database, store }) => {
    const watch = new QueryWatch(clock);
    const uploadsDir = join(dir, "uploads");
    await mkdir(uploadsDir, { recursive: true });
    const world = new FastWorld();
    const director = await startIn(world, store, { clock, random, uploadsDir, renderer });
    const run = (task: NewTask) => runTask(director, store, task, clock);
    const effort = (sketch: ManifestSketch) =>
      effortOf(() => run(deployTask(sketch)), { clock, watch, server: database.pid() });
    try {
      await upload(size.jobs, uploadsDir, run);
      const uncompiled = await effort(withJobs({ ...size, instances: 1 }, "first"));
      const compiled = await effort(withJobs({ ...size, instances: 1 }, "second"));
      const before = world.vms.size;
      const bare = await effort({ ...sketchOf(size.instances), name: "bare" });
      const create = await effort(withJobs(size, "bench"));
      const made = world.vms.size - before;
      if (made !== 2 * size.instances + HUBS) throw new Error(`${made} VMs for ${size.instances} instances`);
      const same = await effort(withJobs(size, "bench"));
      if (world.violations.length > 0) throw new Error(world.violations.join("; "));
      return { uncompiled, compiled, bare, create, same };
    } finally {
      await director.stop();
      await renderer?.close();
    }
  });
}

async function upload(jobs: number, dir: string, run: (task: NewTask) => Promise<void>): Promise<void> {
  const path = join(dir, "sample.tgz");
  await writeFile(path, await releaseArchive(sampleRelease(jobs)));
  await run(taskOf("update_release", { path, fix: false, rebase: false }));
}

const HUBS = 3;

/** Returns the sketch without jobs, plus a group whose addresses all others get by link. */
function withJobs({ instances, jobs }: JobsSize, name: string): ManifestSketch {
  const sketch = sketchOf(instances);
  const run = (job: string, properties: object) => ({ name: job, release: "sample", properties });
  const servers = Array.from({ length: jobs }, (_, at) => run(`server-${at}`, SAMPLE_PROPERTIES));
  const hub: GroupSketch = { name: "hub", instances: HUBS, jobs: [run("hub", {})] };
  return {
    ...sketch,
    name,
    releases: [{ name: "sample", version: "1" }],
    groups: [
      hub,
      ...sketch.groups.filter((one) => one.instances > 0).map((one) => ({ ...one, jobs: servers })),
    ],
  };
}
