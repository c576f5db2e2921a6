import { rm } from "node:fs/promises";
import type { ApplySpec } from "@slipway/protocol/agent/apply-spec";
import { fakeClock } from "@slipway/testkit/fake-clock";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type FakeWorld, fakeWorld } from "../testing/fake-services.ts";
import { drain } from "./drain.ts";
import { gone, type JobScripts, jobScripts } from "./testing/job-scripts.ts";

let world: FakeWorld;
let jobs: JobScripts;

beforeEach(async () => {
  world = await fakeWorld();
  jobs = jobScripts(world, fakeClock({ hurry: true }));
});
afterEach(() => rm(world.services.paths.base, { recursive: true, force: true }));

const NOTE = 'echo "$* now=$BOSH_JOB_STATE next=$BOSH_JOB_NEXT_STATE path=$PATH" >> $NOTES';
const FIXED_PATH = "path=/usr/sbin:/usr/bin:/sbin:/bin";
const update = (next: object) => drain({ type: "update", spec: next as ApplySpec }, jobs.call);
const slept = () => (jobs.call.services.clock as ReturnType<typeof fakeClock>).slept;

describe("arguments and environment of a drain script", () => {
  beforeEach(() => jobs.job("web", { drain: `${NOTE}\necho 0` }));

  it("name what an update changes, which packages, and the disks of both specifications", async () => {
    const packages = { same: { sha1: "1" }, other: { sha1: "1" }, gone: { sha1: "1" } };
    world.spec = { ...world.spec, persistent_disk: 1024, packages } as ApplySpec;
    const next = { same: { sha1: "1" }, zebra: { sha1: "1" }, other: { sha1: "2" }, ant: { sha1: "1" } };
    expect(await update({ configuration_hash: "hash-2", persistent_disk: 2048, packages: next })).toBe(0);
    expect(await jobs.noted()).toBe(
      'job_changed hash_changed ant other zebra now={"persistent_disk":1024} ' +
        `next={"persistent_disk":2048} ${FIXED_PATH}\n`,
    );
  });

  it("say whether the configuration hash is unchanged or new", async () => {
    await update({ configuration_hash: "hash-1" });
    world.spec = { ...world.spec, configuration_hash: "" } as ApplySpec;
    await update({ configuration_hash: "hash-1" });
    expect((await jobs.noted()).split("\n").map((line) => line.split(" now=")[0])).toEqual([
      "job_changed hash_unchanged",
      "job_changed hash_new",
      "",
    ]);
  });

  it("are those of a shutdown, after the shutdown alert; BOSH_JOB_NEXT_STATE is unset", async () => {
    expect(await drain({ type: "shutdown" }, jobs.call)).toBe(0);
    expect(world.published).toEqual([{ topic: "shutdown", payload: null }]);
    expect(await jobs.noted()).toBe(
      `job_shutdown hash_unchanged now={"persistent_disk":0} next= ${FIXED_PATH}\n`,
    );
  });
});

describe("output of a drain script", () => {
  it("is the number of seconds to wait, whatever its exit code", async () => {
    await jobs.job("web", { drain: "echo chatter >&2; echo ' 7 '; exit 1" });
    expect(await update({})).toBe(0);
    expect(slept()).toEqual([7000]);
  });

  it("calls for another run after so many seconds if it is negative, for as long as it takes", async () => {
    await jobs.job("web", {
      drain: `${NOTE}\nif [ $(wc -l < $NOTES) -lt 3 ]; then echo -2; else echo 1; fi`,
    });
    expect(await update({})).toBe(0);
    expect((await jobs.noted()).split("\n").map((line) => line.split(" path=")[0])).toEqual([
      'job_changed hash_changed now={"persistent_disk":0} next={"persistent_disk":0}',
      'job_check_status hash_unchanged now={"persistent_disk":0} next=',
      'job_check_status hash_unchanged now={"persistent_disk":0} next=',
      "",
    ]);
    expect(slept()).toEqual([2000, 2000, 1000]);
  });

  it.each([["x"], [""], ["1.5"], ["0 seconds"], ["99999999999999999999"]])(
    "fails the drain if it is %j: the error names the job and has its last lines",
    async (nonsense) => {
      await jobs.job("good", { drain: "echo 0" });
      await jobs.job("web", { drain: `echo '${nonsense}'; echo 'cannot reach the peer' >&2; exit 4` });
      await jobs.job("quiet");
      const failed = update({});
      await expect(failed).rejects.toThrow(
        "1 of 2 drain scripts failed. Failed Jobs: web. Successful Jobs: good.\n" +
          "web: Script did not return a signed integer; it ended with 4",
      );
      await expect(failed).rejects.toThrow("cannot reach the peer");
    },
  );

  it("is rejected if it is a flood, of which only a few lines are kept", async () => {
    await jobs.job("web", { drain: "head -c 30000000 /dev/zero | tr '\\0' x; echo; echo 0" });
    const error = await update({}).catch((thrown: Error) => thrown);
    expect(error).toBeInstanceOf(Error);
    expect((error as Error).message.length).toBeLessThan(5000);
  });
});

describe("draining", () => {
  it("unmonitors before any script runs", async () => {
    await jobs.job("web", { drain: `${NOTE}\necho 0` });
    const before: string[] = [];
    const supervisor = {
      ...world.services.supervisor,
      unmonitor: async () => void before.push(await jobs.noted()),
    };
    const services = { ...jobs.call.services, supervisor };
    await drain({ type: "shutdown" }, { ...jobs.call, services });
    expect(before).toEqual([""]);
    expect(await jobs.noted()).not.toBe("");
  });

  it("runs the scripts of all jobs at once", async () => {
    // Each waits for the other to have begun.
    const meet = (me: string, other: string) =>
      `echo ${me} >> $NOTES; until grep -q ${other} $NOTES; do sleep 0.02; done; echo 0`;
    await jobs.job("one", { drain: meet("one", "two") });
    await jobs.job("two", { drain: meet("two", "one") });
    expect(await update({})).toBe(0);
  });

  it("returns at once when it is canceled, and kills a script that ignores SIGTERM after ten seconds", async () => {
    const clock = fakeClock();
    const stuck = jobScripts(world, clock);
    await stuck.job("web", { drain: "trap '' TERM; echo pid=$$ >> $NOTES; while :; do sleep 0.05; done" });
    const drained = drain({ type: "shutdown" }, stuck.call);
    await stuck.until("pid=");
    const pid = Number((await stuck.noted()).match(/pid=(\d+)/)?.[1]);
    stuck.cancel();
    expect(await drained).toBe(0);
    await clock.advance(9_900);
    process.kill(pid, 0);
    await clock.advance(200);
    await gone(pid);
  });

  it("does not call the script again when it is canceled between two calls", async () => {
    const clock = fakeClock();
    const dynamic = jobScripts(world, clock);
    await dynamic.job("web", { drain: `${NOTE}\necho -60` });
    const drained = drain({ type: "shutdown" }, dynamic.call);
    await dynamic.until("job_shutdown");
    await expect.poll(() => clock.slept).toContain(60_000);
    dynamic.cancel();
    expect(await drained).toBe(0);
    await clock.advance(120_000);
    expect(await dynamic.noted()).not.toContain("job_check_status");
  });
});
