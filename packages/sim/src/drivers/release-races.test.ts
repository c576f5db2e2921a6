import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sweepReleaseBlobs } from "@slipway/director/operations/releases/blobs";
import { versionsOf } from "@slipway/director/store/releases";
import type { TaskRunner } from "@slipway/director/tasks/runner";
import type { NewTask } from "@slipway/director/tasks/task";
import { releaseTarball } from "@slipway/testkit/release-tarball";
import { latch } from "@slipway/testkit/waiting";
import { describe, expect, it } from "vitest";
import { taskOf } from "../crash/scenarios/tasks.ts";
import { blobsInSim } from "../director/director-in-sim.ts";
import { count, jobsStage, shopRelease, web } from "./testing/jobs-stage.ts";
import { memoryConfigServer } from "./testing/memory-config-server.ts";
import type { Interference } from "./watch-clients.ts";

/** A deploy or an export beside a task that replaces or deletes the release it uses. */

const { stage, run, done, task, converges, whole } = jobsStage();

const instances = (n: number) => task([{ name: "web", instances: n, jobs: [web()] }]);
const deletion = taskOf("delete_release", { name: "shop", force: false });

let uploads = 0;
async function fixing(): Promise<NewTask> {
  const path = join(stage.bench.uploadsDir, `fix-${uploads++}.tgz`);
  await writeFile(path, await releaseTarball(shopRelease()));
  return taskOf("update_release", { path, fix: true, rebase: false });
}
const exported = taskOf("export_release", {
  ...{ deployment: "shop", release: "shop", version: "1", stemcell_os: "sim-os", stemcell_version: "1.1" },
  ...{ jobs: [], sha2: true },
});
/** The other task, and the sweep that follows it, happen once while the first is held. */
function once(other: NewTask) {
  const director = latch<TaskRunner>();
  let ended: ReturnType<typeof stage.bench.endOf> | undefined;
  const happen = async () => {
    ended ??= director.opened.then(async (its) => await stage.bench.endOf(await its.enqueue(other)));
    const { state, message } = await ended;
    expect(`${state} ${message}`).toBe("done ");
    await sweepReleaseBlobs(stage.bench.db, blobsInSim(stage.bench.uploadsDir));
  };
  return {
    happen,
    onQueued: (_: number, its: TaskRunner) => director.open(its),
    begun: () => ended !== undefined,
  };
}
const held = (method: string, happen: () => Promise<void>): { readonly interference: Interference } => ({
  interference: {
    cpi: async (call, carryOut) => {
      if (call.method === method) await happen();
      return await carryOut();
    },
  },
});

describe("upload-release --fix", () => {
  it("leaves a running deploy the compiled packages that it has chosen, and removes them afterwards", async () => {
    await done(instances(1));
    const { happen, onQueued, begun } = once(await fixing());
    await done(instances(2), { onQueued, ...held("create_vm", happen) });
    expect(begun()).toBe(true);
    // The next deploy compiles again: what was compiled before is not to be trusted.
    expect(count(await converges(instances(2)), "compile_package")).toBe(2);
    await expect
      .poll(async () => (await stage.bench.blobs()).filter((id) => id.startsWith("release-")).length)
      .toBe(8);
  });

  it("leaves a running export the blobs that it packs", async () => {
    await done(instances(1));
    await done(exported);
    const { happen, onQueued, begun } = once(await fixing());
    await done(exported, {
      onQueued,
      blobs: (blobs) => ({
        ...blobs,
        get: async (id) => {
          await happen();
          return await blobs.get(id);
        },
      }),
    });
    expect(begun()).toBe(true);
  });

  it("keeps a running deploy from recording what it compiled from the sources that were replaced", async () => {
    const { happen, onQueued } = once(await fixing());
    const { state, message } = await run(instances(1), { onQueued, ...held("create_vm", happen) });
    expect(state).toBe("error");
    expect(message).toContain("the release of package 'lib' was uploaded again with `--fix`");
    expect([stage.bench.world.vms.size, await whole()]).toEqual([0, []]);
    expect(count(await converges(instances(1)), "compile_package")).toBe(2);
  });
});

describe("a release that is deleted after a deploy has chosen it", () => {
  /** Deletes the release while the deploy reads a variable. */
  async function deletedDuring(deploy: NewTask) {
    const server = memoryConfigServer();
    server.set("/sim/shop/pw", "value");
    const { happen, onQueued } = once(deletion);
    return await run(deploy, {
      onQueued,
      configServer: {
        ...server,
        newest: async (name, signal) => {
          await happen();
          return await server.newest(name, signal);
        },
      },
    });
  }

  it("fails the deploy with the name of the release and what to do next, and nothing is left", async () => {
    const ended = await deletedDuring(
      task([{ name: "web", instances: 1, jobs: [web({ port: 80, password: "((pw))" })] }]),
    );
    expect(ended.state).toBe("error");
    expect(ended.message).toContain("the release 'shop/1' was deleted while the deploy was planned");
    expect([stage.bench.world.vms.size, await whole(), await versionsOf(stage.bench.db, "shop")]).toEqual([
      0,
      [],
      [],
    ]);
  });
});
