import { saveConfig } from "@slipway/director/store/configs";
import { NoSpaceForBlobs } from "@slipway/engine/blobs/errors";
import { systemClock } from "@slipway/kernel/clock";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { describe, expect, it } from "vitest";
import { stateTask, taskOf } from "../crash/scenarios/tasks.ts";
import { CLOUD_CONFIG } from "../director/manifests.ts";
import { instantClock } from "../world/instant-clock.ts";
import { count, jobsStage, never, onAsk, shopRelease, web } from "./testing/jobs-stage.ts";

sampleTests(1 / 4);

const { stage, run, done, upload, task, whole, converges, damage } = jobsStage();

const DEPLOY = task([{ name: "web", instances: 2, jobs: [web()] }]);
const DAY_MS = 24 * 3_600_000;

/** Cancels the task the first time that a message is sent, which is never answered. */
const cancelledAt = (method: string) => {
  let cancel: () => Promise<unknown> = () => Promise.resolve();
  return {
    interference: onAsk(method, () => {
      void cancel();
      return never();
    }),
    onQueued: (id: number, director: { cancel(id: number): Promise<unknown> }) => {
      cancel = () => director.cancel(id);
    },
  };
};

describe("a package that cannot be compiled", () => {
  it("is reported with its release and the end of its output; the next deploy compiles only what is missing", async () => {
    stage.bench.world.uncompilable.add("server");
    const failed = await run(DEPLOY);
    expect(failed.state).toBe("error");
    expect(failed.message).toContain("package 'server' of release 'shop/1'");
    expect(failed.message).toContain("cc: not found");
    expect([stage.bench.world.vms.size, await whole()]).toEqual([0, []]);
    stage.bench.world.uncompilable.clear();
    expect(count(await converges(DEPLOY), "compile_package")).toBe(1);
  });

  it("is canceled together with its VM if it never ends", async () => {
    const { state } = await run(DEPLOY, cancelledAt("compile_package"));
    expect([state, stage.bench.world.vms.size, await whole()]).toEqual(["cancelled", 0, []]);
    await converges(DEPLOY);
  });

  it("is given up after a day if it never ends", async () => {
    const clock = instantClock();
    const { state, message } = await run(DEPLOY, {
      interference: onAsk("compile_package", () => never()),
      clock: { ...clock, after: (ms, work) => systemClock.after(ms === DAY_MS ? 1 : ms, work) },
    });
    expect(state).toBe("error");
    expect(message).toMatch(/package 'lib' of release 'shop\/1' .* did not finish within 86400 s/);
    expect([stage.bench.world.vms.size, await whole()]).toEqual([0, []]);
    await converges(DEPLOY);
  });

  it("fails the deploy and leaves no VM if its VM dies", async () => {
    const { state, message } = await run(DEPLOY, {
      interference: onAsk("compile_package", () => Promise.resolve({ silent: "no route" })),
    });
    expect(state).toBe("error");
    expect(message).toMatch(/package 'lib' of release 'shop\/1' .*no route/);
    expect([stage.bench.world.vms.size, await whole()]).toEqual([0, []]);
    await converges(DEPLOY);
  });

  it("fails the deploy if there is no space for the compiled package", async () => {
    const { state, message } = await run(DEPLOY, {
      blobs: (blobs) => ({ ...blobs, put: () => Promise.reject(NoSpaceForBlobs({ dir: "/state/blobs" })) }),
    });
    expect(state).toBe("error");
    expect(message).toContain("no space left for blobs in /state/blobs");
    expect([stage.bench.world.vms.size, await whole()]).toEqual([0, []]);
    await converges(DEPLOY);
  });
});

describe("templates that cannot be rendered", () => {
  it("are reported all at once, and nothing is changed", async () => {
    await converges(DEPLOY);
    await upload(shopRelease({ version: "2", web: "broken: no port", client: "broken: no web" }));
    const groups = [
      { name: "web", instances: 2, jobs: [web()] },
      { name: "client", instances: 1, jobs: [{ name: "client", release: "shop" }] },
    ];
    const { state, message, changing } = await run(task(groups));
    expect([state, changing]).toEqual(["error", []]);
    for (const word of ["no port", "no web", "web.yml", "client.yml"]) expect(message).toContain(word);
    expect(await whole()).toEqual([]);
    await upload(shopRelease({ version: "3" }));
    await converges(task(groups));
  });
});

describe("a faulty job", () => {
  const process = (state: string) => ({
    job_state: state,
    networks: {},
    processes: [{ name: "web", state, problem: "web of the job web: it ended; web.log: no door" }],
  });
  const watched = (times: string) => ({
    ...DEPLOY,
    params: {
      ...DEPLOY.params,
      manifest: String(DEPLOY.params.manifest).replaceAll("watch_time: 0-1000", `watch_time: ${times}`),
    },
  });

  it("is reported with its instance if it never starts, and the rest is left alone", async () => {
    const { state, message, calls } = await run(DEPLOY, {
      interference: onAsk("get_state", () => Promise.resolve({ value: process("failing") })),
    });
    expect(state).toBe("error");
    expect(message).toMatch(/'web\/\S+ \(\d\)' is not running after update/);
    expect(message).toContain("Review logs for failed jobs: web");
    expect(message).toMatch(/reports 'failing' after \d+ s: web of the job web: it ended; web\.log: no door/);
    expect(count({ calls }, "start")).toBe(1);
    await converges(DEPLOY);
  });

  it("is detected within its watch time if it runs only for a moment after each start", async () => {
    let started = false;
    let looks = 0;
    const { state, message } = await run(watched("1000-5000"), {
      interference: {
        ask: ({ method }, carryOut) => {
          if (method === "start") started = true;
          if (method !== "get_state" || !started) return carryOut();
          looks += 1;
          return Promise.resolve({ value: process(looks === 1 ? "running" : "failing") });
        },
      },
    });
    expect(state).toBe("error");
    expect(message).toContain("failed jobs: web");
    await converges(DEPLOY);
  });

  it("is left when a task is canceled during a drain; a failed drain names its instance", async () => {
    await converges(DEPLOY);
    const changed = task([{ name: "web", instances: 2, jobs: [web({ port: 81 })] }]);
    const { state } = await run(changed, cancelledAt("drain"));
    expect([state, await whole()]).toEqual(["cancelled", []]);
    const failed = await run(changed, {
      interference: onAsk("drain", () => Promise.resolve({ exception: "drain script exited with 3" })),
    });
    expect(failed.state).toBe("error");
    expect(failed.message).toMatch(/'web\/\S+ \(\d\)'.*drain script exited with 3/);
    await converges(changed);
  });
});

describe("a blob that is damaged", () => {
  const blobOf = async (table: "jobs" | "packages" | "compiled_packages", name: string) => {
    const { bench } = stage;
    const row =
      table === "compiled_packages"
        ? await bench.db
            .selectFrom("compiled_packages as c")
            .innerJoin("packages as p", "p.id", "c.package_id")
            .select("c.blob_id")
            .where("p.name", "=", name)
            .executeTakeFirstOrThrow()
        : await bench.db
            .selectFrom(table)
            .select("blob_id")
            .where("name", "=", name)
            .executeTakeFirstOrThrow();
    return String(row.blob_id);
  };

  it.each([
    ["jobs", "web", /the archive of job 'web' is damaged .* digest is sha256:[0-9a-f]{64}, not sha256:/],
    ["packages", "lib", /of 'lib' is damaged .* digest is sha256:[0-9a-f]{64}, not sha256:/],
  ] as const)(
    "fails the deploy with its digest in %s; uploading the release with --fix mends it",
    async (table, name, words) => {
      await damage(await blobOf(table, name));
      const { state, message } = await run(DEPLOY);
      expect(state).toBe("error");
      expect(message).toMatch(words);
      expect(message).toContain("upload-release --fix");
      expect([stage.bench.world.vms.size, await whole()]).toEqual([0, []]);
      await upload(shopRelease(), true);
      await converges(DEPLOY);
    },
  );

  it("is reported before an agent gets the compiled package; --fix has it compiled again", async () => {
    await converges(DEPLOY);
    await damage(await blobOf("compiled_packages", "server"));
    const { state, message } = await run(stateTask("recreate"));
    expect(state).toBe("error");
    expect(message).toMatch(/'web\/\S+ \(\d\)'.*the blob release-\S+ of 'server' is damaged/);
    expect(message).toContain("upload-release --fix");
    await upload(shopRelease(), true);
    expect(count(await converges(DEPLOY), "compile_package")).toBe(2);
  });

  it("is not kept if it was damaged on its way from an agent", async () => {
    const before = await stage.bench.blobs();
    const { state, message } = await run(DEPLOY, {
      interference: onAsk("get_blob", () =>
        Promise.resolve({ value: Buffer.from("other").toString("base64") }),
      ),
    });
    expect(state).toBe("error");
    expect(message).toMatch(/compiled package 'lib' is not what its agent has sent: its digest is sha256:/);
    expect((await stage.bench.blobs()).filter((id) => !before.includes(id))).toEqual([]);
    expect([stage.bench.world.vms.size, await whole()]).toEqual([0, []]);
    await converges(DEPLOY);
  });

  it("is refused by an agent if it was damaged on its way there", async () => {
    let sent = 0;
    const { state, message } = await run(DEPLOY, {
      interference: onAsk("put_blob", (call, carryOut) => {
        sent += 1;
        if (sent > 1 || call.peer !== "agent") return carryOut();
        const vm = stage.bench.world.vmOfAgent(call.agentId);
        return carryOut().then((answer) => {
          for (const id of vm?.agent.blobs.keys() ?? []) vm?.agent.blobs.set(id, "sha256:other");
          return answer;
        });
      }),
    });
    expect(state).toBe("error");
    expect(message).toMatch(
      /package 'lib' .*expected digest sha256:[0-9a-f]{64}, the content has sha256:other/,
    );
    expect([stage.bench.world.vms.size, await whole()]).toEqual([0, []]);
    await converges(DEPLOY);
  });
});

describe("compilation", () => {
  it("compiles packages once for two deployments that need them at once", async () => {
    const groups = [{ name: "web", instances: 1, jobs: [web()] }];
    const ended = await stage.bench.runAll([task(groups), task(groups, {}, { name: "other" })], {
      seed: "two",
    });
    expect(ended.map(({ state, message }) => `${state} ${message}`)).toEqual(["done ", "done "]);
    expect(stage.bench.world.compilations).toHaveLength(2);
    expect([stage.bench.world.vms.size, await whole()]).toEqual([2, []]);
  });

  it("uses VMs that are orphaned afterwards, if the cloud config says so", async () => {
    const content = CLOUD_CONFIG.replace("workers: 1", "workers: 1, orphan_workers: true");
    const saved = await saveConfig(stage.bench.db, { type: "cloud", name: "orphaning", content });
    const ids = [saved.ok ? saved.config.id : 0];
    const { calls } = await done({ ...DEPLOY, params: { ...DEPLOY.params, cloud_config_ids: ids } });
    expect([count({ calls }, "delete_vm"), await whole()]).toEqual([0, []]);
    expect((await stage.bench.remembered()).orphanedVms).toHaveLength(2);
    await done(taskOf("delete_orphaned_vms", {}));
    expect([stage.bench.world.vms.size, await whole()]).toEqual([2, []]);
  });
});
