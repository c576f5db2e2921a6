import { spawn } from "node:child_process";
import { readFile, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { describe, expect, it, onTestFinished } from "vitest";
import { jobLab, kill, lives, NEVER } from "../testing/job-lab.ts";
import { allProcesses, commandLine } from "./procfs.ts";

sampleTests(1 / 3);

const within = { timeout: 20_000, interval: 20 };

/** Starts a process that belongs to no job and returns its pid. */
function stranger(): number {
  const child = spawn("sleep", ["4000"], { detached: true, stdio: "ignore" });
  const pid = child.pid ?? 0;
  onTestFinished(() => kill(pid, "SIGKILL"));
  return pid;
}

describe("a job that goes wrong", () => {
  it("is reported with the last lines of its log, also in the alert, if it never starts", async () => {
    const lab = await jobLab();
    const supervisor = await lab.supervisor();
    const job = await lab.job("web", "CHECK web fail");
    await writeFile(join(lab.paths.sysLog, "web", "web.stderr.log"), "one\ncannot open the door\n");
    await supervisor.watch([job]);
    await supervisor.start();
    await expect.poll(() => lab.sent.length, within).toBeGreaterThan(0);
    const said =
      /web of the job web failed to start: its start program ended with 7; .*web\.stderr\.log: one \| cannot open the door/;
    expect(lab.sent[0]).toMatchObject({ severity: 1, title: "web (10.0.0.5) - execution failed - alert" });
    expect(lab.sent[0]?.summary).toMatch(said);
    expect(lab.log.lines.some((line) => said.test(line))).toBe(true);
    expect(await supervisor.status()).toEqual({
      state: "failing",
      processes: [{ name: "web", state: "failing" }],
    });
    const { processes } = await supervisor.status({ problems: true });
    expect(processes[0]?.problem).toMatch(said);
  });

  it("is reported if its start program is missing", async () => {
    const lab = await jobLab();
    const supervisor = await lab.supervisor();
    const text = `check process web with pidfile ${lab.dir}/web.pid start program "/no/such/ctl start" group vcap`;
    await supervisor.watch([await lab.job("web", text)]);
    await supervisor.start();
    await expect
      .poll(() => lab.sent[0]?.summary, within)
      .toMatch(/failed to start: \/no\/such\/ctl cannot be run: it is not there/);
  });

  it("is restarted after growing pauses if it ends in a loop", async () => {
    const lab = await jobLab();
    const supervisor = await lab.supervisor();
    await supervisor.watch([await lab.job("web", "CHECK web")]);
    await supervisor.start();
    let before: number | undefined;
    const next = async () => {
      await expect.poll(async () => (await lab.pid("web")) ?? before, within).not.toBe(before);
      await expect.poll(async () => (await supervisor.status()).state, within).toBe("running");
      before = await lab.pid("web");
      // It runs, and has not ended yet: what comes between this and the next time is the whole pause.
      const up = performance.now();
      await lab.end("web");
      return up;
    };
    const ups = [await next(), await next(), await next(), await next()];
    // At once, after one second, after two.
    expect((ups[2] ?? 0) - (ups[1] ?? 0)).toBeGreaterThan(950);
    expect((ups[3] ?? 0) - (ups[2] ?? 0)).toBeGreaterThan(1950);
    await writeFile(join(lab.paths.sysLog, "web", "web.log"), "out of luck\n");
    await expect.poll(async () => (await supervisor.status()).state, within).toBe("failing");
    const { processes } = await supervisor.status({ problems: true });
    expect(processes[0]?.problem).toMatch(
      /^web of the job web: process is not running; .*web\.log: out of luck$/,
    );
    await supervisor.stop({ wait: true }, NEVER);
  });

  it("is not considered running if another process got the number in its pidfile", async () => {
    const lab = await jobLab();
    const supervisor = await lab.supervisor();
    const job = await lab.job("web", "CHECK web");
    const pid = stranger();
    const pidfile = join(lab.dir, "web.pid");
    await writeFile(pidfile, `${pid}\n`);
    await utimes(pidfile, Date.now() / 1000 - 3600, Date.now() / 1000 - 3600);
    await supervisor.watch([job]);
    await supervisor.start();
    await expect.poll(async () => (await supervisor.status()).state, within).toBe("running");
    expect(await lab.calls()).toEqual(["start web"]);
    expect(await lab.pid("web")).not.toBe(pid);
    await supervisor.stop({ wait: true }, NEVER);
    expect(lives(pid)).toBe(true);
  });

  it("is failing and reported if it forks away from its pidfile", async () => {
    const lab = await jobLab();
    const supervisor = await lab.supervisor();
    const text = `check process web with pidfile ${lab.dir}/web.pid
      start program "${lab.ctl("web", "fork-away")}" with timeout 1 seconds
      stop program "/bin/true"
      group vcap`;
    const job = await lab.job("web", text);
    onTestFinished(async () => kill((await lab.pid("child")) ?? 0, "SIGKILL"));
    await supervisor.watch([job]);
    await supervisor.start();
    await expect
      .poll(() => lab.sent[0]?.summary, within)
      .toMatch(/web of the job web failed to start: no process after \d+ s/);
    expect((await supervisor.status()).state).toBe("failing");
    await supervisor.stop({ wait: true }, NEVER);
  });

  it("fails a stop with upstream's words if it ignores SIGTERM, and the next stop may work", async () => {
    const lab = await jobLab();
    const supervisor = await lab.supervisor();
    const text = `check process web with pidfile ${lab.dir}/web.pid
      start program "${lab.ctl("web", "stubborn")}"
      stop program "/bin/sh -c 'kill $(cat ${lab.dir}/web.pid)'" with timeout 1 seconds
      group vcap`;
    await lab.job("other", "CHECK web");
    await supervisor.watch([await lab.job("web", text)]);
    await supervisor.start();
    await expect.poll(async () => (await supervisor.status()).state, within).toBe("running");
    const pid = (await lab.pid("web")) ?? 0;
    await expect(supervisor.stop({ wait: true }, NEVER)).rejects.toThrow(
      `Stopping services '[web]' errored: web of the job web failed to stop: process ${pid} still runs`,
    );
    expect((await supervisor.status()).state).toBe("failing");
    kill(pid, "SIGKILL");
    await supervisor.stop({ wait: true }, NEVER);
    expect((await supervisor.status()).state).toBe("stopped");
  });

  it("is failing after the timeout of a hanging start program, is not started twice, and can be stopped", async () => {
    const lab = await jobLab();
    const supervisor = await lab.supervisor();
    const text = `check process web with pidfile ${lab.dir}/web.pid
      start program "${lab.ctl("web", "hang")}" with timeout 1 seconds
      stop program "${lab.ctl("web", "stop")}" group vcap`;
    await lab.job("other", "CHECK web");
    await supervisor.watch([await lab.job("web", text)]);
    await supervisor.start();
    await expect.poll(async () => (await supervisor.status()).state, within).toBe("failing");
    expect(lab.sent[0]?.summary).toMatch(/no process after \d+ s; its start program still runs/);
    await expect.poll(async () => (await lab.calls()).length, within).toBe(2);
    const hanging = allProcesses().filter(({ pid }) =>
      commandLine(pid).join(" ").endsWith(lab.ctl("web", "hang")),
    );
    // A child of it looks the same for a moment, until it has begun its program.
    const pids = new Set(hanging.map(({ pid }) => pid));
    expect(hanging.filter(({ ppid }) => !pids.has(ppid))).toHaveLength(1);
    await supervisor.stop({ wait: true }, NEVER);
    expect((await supervisor.status()).state).toBe("stopped");
    const state = JSON.parse(await readFile(lab.paths.supervisorState, "utf8")) as { services: object };
    expect(state.services).toEqual({ web: { desired: "stop" } });
  });

  it("runs everything that was not stopped after its record was torn", async () => {
    const lab = await jobLab();
    const first = await lab.supervisor();
    await first.watch([await lab.job("web", "CHECK web")]);
    await first.start();
    await expect.poll(async () => (await first.status()).state, within).toBe("running");
    await first.close();
    await lab.end("web");
    await writeFile(lab.paths.supervisorState, '{"boot"');
    const second = await lab.supervisor();
    await expect.poll(async () => (await second.status()).state, within).toBe("running");
    await second.stop({ wait: true }, NEVER);
    await second.close();
    await rm(lab.paths.supervisorState);
    const third = await lab.supervisor();
    expect(await third.status()).toMatchObject({
      state: "stopped",
      processes: [{ name: "web", state: "unknown" }],
    });
  });
});

describe("an agent that ended", () => {
  it("leaves its jobs running, and the next one adopts them without starting or telling anything", async () => {
    const lab = await jobLab();
    const first = await lab.supervisor();
    await first.watch([await lab.job("web", "CHECK web")]);
    await first.start();
    await expect.poll(async () => (await first.status()).state, within).toBe("running");
    const pid = await lab.pid("web");
    await first.close();
    const second = await lab.supervisor();
    expect((await second.status()).state).toBe("running");
    expect(await lab.pid("web")).toBe(pid);
    expect(await lab.calls()).toEqual(["start web"]);
    await lab.end("web");
    await expect.poll(async () => (await lab.calls()).length, within).toBe(2);
    expect(lab.sent).toHaveLength(1);
  });

  it("reports a job that ended meanwhile, and starts what a reboot ended without a word", async () => {
    const lab = await jobLab();
    const first = await lab.supervisor();
    await first.watch([await lab.job("web", "CHECK web"), await lab.job("db", "CHECK db\n mode manual")]);
    await first.start();
    await expect.poll(async () => (await first.status()).state, within).toBe("running");
    await first.close();
    await lab.end("web");
    const second = await lab.supervisor();
    await expect.poll(async () => (await second.status()).state, within).toBe("running");
    expect(lab.sent.map((alert) => alert.title)).toEqual(["web (10.0.0.5) - does not exist - restart"]);
    await second.close();

    await lab.end("web");
    await lab.end("db");
    const state = JSON.parse(await readFile(lab.paths.supervisorState, "utf8")) as { boot: string };
    await writeFile(lab.paths.supervisorState, JSON.stringify({ ...state, boot: "another" }));
    const third = await lab.supervisor();
    await expect
      .poll(async () => (await third.status()).processes.map((one) => one.state), within)
      .toEqual(["unknown", "running"]);
    expect(lab.sent).toHaveLength(1);
  });

  it("finds the start program that runs on without it, and runs no second one", async () => {
    const lab = await jobLab();
    const first = await lab.supervisor();
    await first.watch([await lab.job("web", "CHECK web hang")]);
    await first.start();
    await expect.poll(async () => await lab.calls(), within).toEqual(["hang web"]);
    await first.close();
    // Killed between its intent and the record of the program it ran.
    const state = JSON.parse(await readFile(lab.paths.supervisorState, "utf8")) as {
      services: { web: { busy: { program?: unknown } } };
    };
    state.services.web.busy.program = undefined;
    await writeFile(lab.paths.supervisorState, JSON.stringify(state));
    const second = await lab.supervisor();
    await expect.poll(async () => (await second.status()).state, within).toBe("starting");
    await second.unmonitor();
    expect(await lab.calls()).toEqual(["hang web"]);
    await first.close();
    const record = JSON.parse(await readFile(lab.paths.supervisorState, "utf8")) as {
      services: { web: { busy: { program: { pid: number } } } };
    };
    kill(record.services.web.busy.program.pid, "SIGKILL");
  });
});
