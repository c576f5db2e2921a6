import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { NewTask } from "@slipway/director/tasks/task";
import type { RenderPool } from "@slipway/engine/templates/request";
import type { Clock } from "@slipway/kernel/clock";
import type { Random } from "@slipway/kernel/random";
import { deployTask, taskOf } from "../crash/scenarios/tasks.ts";
import type { GroupSketch, ManifestSketch } from "../director/manifests.ts";
import { type ReleaseSketch, releaseArchive } from "../director/release-archive.ts";
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
  /** All instances, without any jobs and with them. */
  readonly bare: Effort;
  readonly create: Effort;
  /** The same again with nothing changed, with another property, with another version of the release, and recreated. */
  readonly same: Effort;
  readonly property: Effort;
  readonly release: Effort;
  readonly recreate: Effort;
  /** With nothing changed, but all rendered: what a Director does that does not know what templates have seen. */
  readonly rendered: Effort;
}

export interface JobsSize {
  readonly instances: number;
  readonly jobs: number;
}

/**
 * Deploys with releases and jobs, to a cloud and agents that cost nothing. Each has a renderer as after a minute's rest: no
 * Ruby is loaded.
 */
export function jobsBench(
  size: JobsSize,
  open: () => RenderPool,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
): Promise<JobsReport> {
  return withStore(clock, async ({ dir, database, store }) => {
    const watch = new QueryWatch(clock);
    const uploadsDir = join(dir, "uploads");
    await mkdir(uploadsDir, { recursive: true });
    const world = new FastWorld();
    let pool = open();
    let forgets = false;
    let renders = 0;
    const renderer: RenderPool = {
      open: () => {
        const one = pool.open();
        return {
          ...one,
          identity: () => (forgets ? Promise.resolve(undefined) : one.identity()),
          render: (...request) => {
            renders += 1;
            return one.render(...request);
          },
        };
      },
      close: () => pool.close(),
    };
    const director = await startIn(world, store, { clock, random, uploadsDir, renderer });
    const run = (task: NewTask) => runTask(director, store, task, clock);
    const effort = async (sketch: ManifestSketch, options: object = {}) => {
      await pool.close();
      pool = open();
      return await effortOf(() => run(deployTask(sketch, options)), {
        ...{ clock, watch, server: database.pid() },
      });
    };
    try {
      for (const version of ["1", "2"])
        await upload({ ...sampleRelease(size.jobs), version }, uploadsDir, run);
      const uncompiled = await effort(withJobs({ ...size, instances: 1 }, "first"));
      const compiled = await effort(withJobs({ ...size, instances: 1 }, "second"));
      const before = world.vms.size;
      const bare = await effort({ ...sketchOf(size.instances), name: "bare" });
      const create = await effort(withJobs(size, "bench"));
      const made = world.vms.size - before;
      if (made !== 2 * size.instances + HUBS) throw new Error(`${made} VMs for ${size.instances} instances`);
      renders = 0;
      const same = await effort(withJobs(size, "bench"));
      if (renders > 0) throw new Error(`a deploy without changes rendered ${renders} jobs`);
      forgets = true;
      const rendered = await effort(withJobs(size, "bench"));
      forgets = false;
      const property = await effort(withJobs(size, "bench", { properties: { port: 8081 } }));
      const release = await effort(withJobs(size, "bench", { properties: { port: 8081 }, version: "2" }));
      const recreate = await effort(withJobs(size, "bench", { properties: { port: 8081 }, version: "2" }), {
        recreate: true,
      });
      if (world.violations.length > 0) throw new Error(world.violations.join("; "));
      return { uncompiled, compiled, bare, create, same, property, release, recreate, rendered };
    } finally {
      await director.stop();
      await pool.close();
    }
  });
}

async function upload(
  release: ReleaseSketch,
  dir: string,
  run: (task: NewTask) => Promise<void>,
): Promise<void> {
  // The Director removes an upload when its task has ended, which may be after the next one was written.
  const path = join(dir, `sample-${release.version}.tgz`);
  await writeFile(path, await releaseArchive(release));
  await run(taskOf("update_release", { path, fix: false, rebase: false }));
}

const HUBS = 3;

/** Returns the sketch without jobs, plus a group whose addresses all others get by link. */
function withJobs(
  { instances, jobs }: JobsSize,
  name: string,
  { properties = {}, version = "1" }: { readonly properties?: object; readonly version?: string } = {},
): ManifestSketch {
  const sketch = sketchOf(instances);
  const run = (job: string, given: object) => ({ name: job, release: "sample", properties: given });
  const servers = Array.from({ length: jobs }, (_, at) =>
    run(`server-${at}`, { ...SAMPLE_PROPERTIES, ...properties }),
  );
  const hub: GroupSketch = { name: "hub", instances: HUBS, jobs: [run("hub", {})] };
  return {
    ...sketch,
    name,
    releases: [{ name: "sample", version }],
    groups: [
      hub,
      ...sketch.groups.filter((one) => one.instances > 0).map((one) => ({ ...one, jobs: servers })),
    ],
  };
}
