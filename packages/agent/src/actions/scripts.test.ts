import { spawn } from "node:child_process";
import { chmod, mkdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { getPriority } from "node:os";
import { join } from "node:path";
import { identityOf } from "@slipway/kernel/process-identity";
import { fakeClock } from "@slipway/testkit/fake-clock";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { type FakeWorld, fakeWorld } from "../testing/fake-services.ts";
import { runErrand } from "./run_errand.ts";
import { runScript } from "./run_script.ts";
import { gone, type JobScripts, jobScripts } from "./testing/job-scripts.ts";

let world: FakeWorld;
let jobs: JobScripts;

beforeEach(async () => {
  world = await fakeWorld();
  jobs = jobScripts(world);
});
afterEach(() => rm(world.services.paths.base, { recursive: true, force: true }));

const preStart = (env?: Record<string, unknown>) =>
  runScript({ script: "pre-start", options: { env: env as never } }, jobs.call);
const errand = (job?: string) => runErrand({ job }, jobs.call);

describe("run_script", () => {
  it("hands its environment on, with a fixed PATH and the agent's own variables, but not its runtime's", async () => {
    vi.stubEnv("AGENT_VARIABLE", "inherited");
    vi.stubEnv("NODE_OPTIONS", "");
    onTestFinished(() => void vi.unstubAllEnvs());
    await jobs.job("web", {
      "pre-start": 'echo "$BOSH_VM_NEXT_STATE $PATH $AGENT_VARIABLE"; env | grep -c ^NODE_; true',
    });
    expect(await preStart({ BOSH_VM_NEXT_STATE: "keep", PATH: "/elsewhere", N: 1 })).toEqual({});
    expect(await jobs.log("web", "pre-start.stdout.log")).toBe(
      "keep /usr/sbin:/usr/bin:/sbin:/bin inherited\n0\n",
    );
  });

  it("appends to the job's logs, unreadable for others, and runs a little less urgently", async () => {
    await jobs.job("web", { "pre-start": "echo out; echo err >&2; nice" });
    await preStart();
    await preStart();
    const nice = `${Math.min(19, getPriority() + 5)}`;
    expect(await jobs.log("web", "pre-start.stdout.log")).toBe(`out\n${nice}\nout\n${nice}\n`);
    expect(await jobs.log("web", "pre-start.stderr.log")).toBe("err\nerr\n");
    const log = join(world.services.paths.sysLog, "web");
    expect((await stat(join(log, "pre-start.stdout.log"))).mode & 0o777).toBe(0o640);
    expect((await stat(log)).mode & 0o777).toBe(0o750);
  });

  it("runs the scripts of all jobs at once, and of those that have it", async () => {
    const meet = (me: string, other: string) =>
      `echo ${me} >> $NOTES; until grep -q ${other} $NOTES; do sleep 0.02; done`;
    await jobs.job("one", { "pre-start": meet("one", "two") });
    await jobs.job("none");
    await jobs.job("two", { "pre-start": meet("two", "one") });
    expect(await preStart()).toEqual({});
  });

  it("counts the jobs whose script failed, in upstream's words, and says how each ended", async () => {
    await jobs.job("a", { "pre-start": "echo of an earlier run >&2" });
    await preStart();
    await jobs.job("b", { "pre-start": "true" });
    await writeFile(
      join(world.services.paths.jobs, "a", "bin", "pre-start"),
      "#!/bin/bash\necho 'no database' >&2; exit 3\n",
    );
    const error = (await preStart().catch((thrown: Error) => thrown)) as Error;
    expect(error.message).toBe(
      "1 of 2 pre-start scripts failed. Failed Jobs: a. Successful Jobs: b.\n" +
        "a: it ended with 3, the last lines of its stderr:\nno database",
    );
  });

  it("says of a script that cannot be run why, instead of taking it for missing", async () => {
    await jobs.job("a", { "pre-start": "true" });
    await chmod(join(world.services.paths.jobs, "a", "bin", "pre-start"), 0o640);
    await expect(preStart()).rejects.toThrow(/a: .*bin\/pre-start cannot be run: it is not executable/);
  });

  it("says which interpreter is missing", async () => {
    await jobs.job("a", { "pre-start": "true" });
    await writeFile(join(world.services.paths.jobs, "a", "bin", "pre-start"), "#!/no/such/ruby\n");
    await expect(preStart()).rejects.toThrow(/cannot be run: \/no\/such\/ruby, which its first line names,/);
  });

  it("gives a script the usual limit of open files, which it may raise, and not that of the agent", async () => {
    await jobs.job("web", { "pre-start": "ulimit -S -n; ulimit -n $(ulimit -H -n) && echo raised" });
    await preStart();
    expect(await jobs.log("web", "pre-start.stdout.log")).toBe("1024\nraised\n");
  });

  it("keeps nothing of a flood in memory: it goes to the log as it comes", async () => {
    await jobs.job("web", { "pre-start": "head -c 50000000 /dev/zero; exit 1" });
    await expect(preStart()).rejects.toThrow("it ended with 1");
    expect((await stat(join(world.services.paths.sysLog, "web", "pre-start.stdout.log"))).size).toBe(
      50_000_000,
    );
  });

  it("ends its scripts and fails when it is canceled", async () => {
    await jobs.job("web", { "pre-start": "echo pid=$$ >> $NOTES; sleep 300" });
    const run = preStart();
    await jobs.until("pid=");
    jobs.cancel();
    await expect(run).rejects.toThrow("web: the task was cancelled");
    await gone(Number((await jobs.noted()).match(/pid=(\d+)/)?.[1]));
  });

  it("does not wait for a process that the script left running", async () => {
    await jobs.job("web", { "pre-start": "sleep 300 & echo pid=$! >> $NOTES" });
    expect(await preStart()).toEqual({});
    process.kill(Number((await jobs.noted()).match(/pid=(\d+)/)?.[1]), "SIGKILL");
  });

  it("follows no link that a job put in the place of its log", async () => {
    await jobs.job("web", { "pre-start": "echo x" });
    const victim = join(world.services.paths.base, "victim");
    const log = join(world.services.paths.sysLog, "web");
    await mkdir(log, { recursive: true });
    await symlink(victim, join(log, "pre-start.stdout.log"));
    await expect(preStart()).rejects.toThrow("cannot be written");
    await expect(readFile(victim)).rejects.toThrow("ENOENT");
  });

  it("takes names of scripts and jobs for names only", async () => {
    const named = (script: string) => runScript({ script, options: null }, jobs.call);
    for (const script of ["../x", "/bin/sh", "..", ""])
      await expect(named(script)).rejects.toThrow("without");
    await jobs.job("../../etc");
    await expect(preStart()).rejects.toThrow("without a path");
  });
});

describe("run_errand", () => {
  it("takes each exit code for a result, with both outputs", async () => {
    await jobs.job("smoke", { run: "echo out; echo err >&2; exit 7" });
    expect(await errand("smoke")).toEqual({ stdout: "out\n", stderr: "err\n", exit_code: 7 });
  });

  it("takes the first job when none is named, and refuses what is no errand", async () => {
    await expect(errand()).rejects.toThrow("At least one job template is required to run an errand");
    await jobs.job("first", { run: "echo first" });
    await jobs.job("second");
    expect(await errand()).toMatchObject({ stdout: "first\n" });
    await expect(errand("third")).rejects.toThrow("Could not find errand third");
    await expect(errand("second")).rejects.toThrow("the job second has no bin/run");
  });

  it("keeps the beginning, the end and the exit code of an errand that floods its output, in one NATS message", async () => {
    await jobs.job("smoke", {
      run: "echo begin; head -c 40000000 /dev/zero; echo; echo end; echo problem >&2; exit 9",
    });
    const { stdout, stderr, exit_code } = await errand();
    expect({ stderr, exit_code }).toEqual({ stderr: "problem\n", exit_code: 9 });
    expect(stdout).toMatch(/^begin\n/);
    expect(stdout).toMatch(/end\n$/);
    expect(stdout).toContain("left out");
    expect(JSON.stringify({ stdout, stderr, exit_code }).length).toBeLessThan(1 << 20);
  });

  it("ends a canceled errand with SIGTERM, with all processes of its group", async () => {
    await jobs.job("smoke", { run: "echo ready; sleep 300 & echo pid=$! >> $NOTES; wait" });
    const run = errand();
    await jobs.until("pid=");
    jobs.cancel();
    expect(await run).toMatchObject({ stdout: "ready\n", exit_code: 143 });
    await gone(Number((await jobs.noted()).match(/pid=(\d+)/)?.[1]));
  });

  it("kills a canceled errand that ignores SIGTERM after ten seconds, with its children", async () => {
    const clock = fakeClock();
    const stuck = jobScripts(world, clock);
    await stuck.job("smoke", {
      run: "trap '' TERM; (while :; do sleep 0.05; done) & echo pid=$! >> $NOTES; while :; do sleep 0.05; done",
    });
    const run = runErrand({}, stuck.call);
    await stuck.until("pid=");
    stuck.cancel();
    await clock.advance(10_000);
    await clock.advance(200);
    await expect
      .poll(() => clock.advance(600).then(() => Promise.race([run, undefined])))
      .toMatchObject({
        exit_code: 137,
      });
    await gone(Number((await stuck.noted()).match(/pid=(\d+)/)?.[1]));
  });

  it("ends an errand that was canceled before it began", async () => {
    await jobs.job("smoke", { run: "sleep 300" });
    jobs.cancel();
    expect(await errand()).toMatchObject({ exit_code: 143 });
  });

  it("ends one of the same job that an agent before this one left running, and nothing else", async () => {
    await jobs.job("smoke", { run: "echo again" });
    const left = spawn("sleep", ["300"], { detached: true });
    const other = spawn("sleep", ["300"], { detached: true });
    onTestFinished(() => void other.kill("SIGKILL"));
    const running = join(world.services.paths.boshDir, "running-scripts");
    await mkdir(running, { recursive: true });
    await writeFile(join(running, "smoke.run"), JSON.stringify({ leader: identityOf(left.pid as number) }));
    await writeFile(
      join(running, "other.run"),
      JSON.stringify({ leader: { ...identityOf(other.pid as number), started: "1" } }),
    );
    expect(await errand()).toMatchObject({ stdout: "again\n", exit_code: 0 });
    await gone(left.pid as number);
    await jobs.job("other", { run: "echo other" });
    expect(await errand("other")).toMatchObject({ stdout: "other\n" });
    expect(other.exitCode).toBeNull();
    expect(other.signalCode).toBeNull();
  });
});
