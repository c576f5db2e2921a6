import { access, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { jobLab, lives, NEVER } from "../testing/job-lab.ts";

const within = { timeout: 15_000, interval: 20 };

describe("our own supervisor", () => {
  it("starts what is watched, reports each process in upstream's form, and stops it", async () => {
    const lab = await jobLab();
    const supervisor = await lab.supervisor();
    expect(await supervisor.status()).toEqual({ state: "running", processes: [] });
    await supervisor.stop({ wait: true }, NEVER);
    expect((await supervisor.status()).state).toBe("stopped");

    await supervisor.watch([await lab.job("web", "CHECK web"), await lab.job("db", "CHECK db")]);
    expect((await supervisor.status()).state).toBe("stopped");
    await supervisor.start();
    await expect.poll(async () => (await supervisor.status()).state, within).toBe("running");
    const { processes } = await supervisor.status();
    expect(processes.map(({ name, state }) => [name, state])).toEqual([
      ["db", "running"],
      ["web", "running"],
    ]);
    expect(processes[0]).toMatchObject({
      uptime: { secs: expect.any(Number) },
      cpu: { total: expect.any(Number) },
    });
    expect(processes[0]?.mem?.kb).toBeGreaterThan(100);
    expect(await readFile(join(lab.paths.monitJobs, "0000_db.monitrc"), "utf8")).toContain(
      "check process db",
    );
    expect(await readFile(join(lab.paths.monitJobs, "0001_web.monitrc"), "utf8")).toContain(
      "check process web",
    );

    const pid = (await lab.pid("web")) ?? 0;
    await supervisor.stop({ wait: true }, NEVER);
    expect(lives(pid)).toBe(false);
    expect((await supervisor.status()).state).toBe("stopped");
    await access(lab.paths.stoppedMarker);
  });

  it("gives programs monit's environment and nothing of the agent's", async () => {
    const lab = await jobLab();
    const supervisor = await lab.supervisor();
    await supervisor.watch([await lab.job("web", "CHECK web")]);
    await supervisor.start();
    await expect.poll(async () => (await supervisor.status()).state, within).toBe("running");
    const env = await readFile(join(lab.dir, "web.env"), "utf8");
    expect(env).toContain("PATH=/bin:/usr/bin:/sbin:/usr/sbin\n");
    expect(env).toContain("MONIT_SERVICE=web\n");
    const names = env.split("\n").map((line) => line.split("=")[0] ?? "");
    expect(names.filter((name) => !/^(MONIT_\w+|PATH|PWD|SHLVL|_|OLDPWD|)$/.test(name))).toEqual([]);
  });

  it("starts a process that ended again, says so once with upstream's severity, and is failing in between", async () => {
    const lab = await jobLab();
    const supervisor = await lab.supervisor();
    await supervisor.watch([await lab.job("web", "CHECK web")]);
    await supervisor.start();
    await expect.poll(async () => (await supervisor.status()).state, within).toBe("running");
    const before = (await lab.pid("web")) ?? 0;
    await lab.end("web");
    await expect.poll(async () => (await lab.pid("web")) !== before, within).toBe(true);
    await expect.poll(async () => (await supervisor.status()).state, within).toBe("running");
    expect(lab.sent).toEqual([
      expect.objectContaining({
        severity: 1,
        title: "web (10.0.0.5) - does not exist - restart",
        summary: "process is not running",
      }),
    ]);
  });

  it("starts in the order of dependencies, stops in reverse, and takes dependents along in a restart", async () => {
    const lab = await jobLab();
    const supervisor = await lab.supervisor();
    const text = "CHECK app\n depends on db\nCHECK db\nCHECK front\n depends on app, db";
    await supervisor.watch([await lab.job("shop", text)]);
    await supervisor.start();
    await expect.poll(async () => (await supervisor.status()).state, within).toBe("running");
    expect(await lab.calls()).toEqual(["start db", "start app", "start front"]);
    await lab.end("db");
    await expect.poll(async () => (await lab.calls()).length, within).toBe(8);
    expect((await lab.calls()).slice(3)).toEqual([
      "stop front",
      "stop app",
      "start db",
      "start app",
      "start front",
    ]);
    await expect.poll(async () => (await supervisor.status()).state, within).toBe("running");
    await supervisor.stop({ wait: true }, NEVER);
    expect((await lab.calls()).slice(8)).toEqual(["stop front", "stop app", "stop db"]);
  });

  it("leaves everything alone once it is unmonitored, until the next start", async () => {
    const lab = await jobLab();
    const supervisor = await lab.supervisor();
    await supervisor.watch([await lab.job("web", "CHECK web")]);
    await supervisor.start();
    await expect.poll(async () => (await supervisor.status()).state, within).toBe("running");
    await supervisor.unmonitor();
    await lab.end("web");
    const status = await supervisor.status();
    expect(status).toMatchObject({ state: "failing", processes: [{ name: "web", state: "unknown" }] });
    expect(await lab.calls()).toEqual(["start web"]);
    await supervisor.start();
    await expect.poll(async () => (await supervisor.status()).state, within).toBe("running");
    expect(lab.sent).toEqual([]);
  });

  it("fails start with file and line of what it cannot read, and names what it reads over", async () => {
    const lab = await jobLab();
    const supervisor = await lab.supervisor();
    const bad = await lab.job("web", "CHECK web\n  if frobnication > 3 then restart");
    await expect(supervisor.watch([bad])).rejects.toThrow(
      /0000_web\.monitrc, line 5: the test "frobnication" is not known/,
    );
    await expect(supervisor.start()).rejects.toThrow("line 5");
    const odd = await lab.job("web", "set daemon 10\nCHECK web\n  if saturation > 90% then alert");
    await supervisor.watch([odd]);
    expect((await supervisor.status()).warnings).toEqual([
      expect.stringMatching(/line 1: "set daemon" is a setting of monit itself/),
      expect.stringMatching(/line 6: the test `saturation > 90 %` is not supported/),
    ]);
  });

  it.each([
    ["totalmem > 1 kb", "restart", "totalmem"],
    ["failed unixsocket /nowhere/sock", "restart", "failed connection to /nowhere/sock"],
  ])("restarts a process when `if %s` holds", async (test, action, said) => {
    const lab = await jobLab();
    const supervisor = await lab.supervisor();
    await supervisor.watch([await lab.job("web", `CHECK web\n if ${test} for 2 cycles then ${action}`)]);
    await supervisor.start();
    await expect
      .poll(async () => (await lab.calls()).slice(0, 3), within)
      .toEqual(["start web", "stop web", "start web"]);
    expect(lab.sent[0]?.summary).toContain(said);
  });

  it("is failing while a rule that only alerts holds, and runs the program of a rule about a file", async () => {
    const lab = await jobLab();
    const supervisor = await lab.supervisor();
    const watchedFile = join(lab.dir, "config");
    await writeFile(watchedFile, "1");
    const text = `CHECK web\n if children < 5 then alert
      check file config with path ${watchedFile}
        if changed size then exec "${lab.ctl("config", "nothing")}"
        group vcap`;
    await supervisor.watch([await lab.job("web", text)]);
    await supervisor.start();
    await expect
      .poll(async () => (await supervisor.status()).processes, within)
      .toEqual([
        expect.objectContaining({ name: "web", state: "failing" }),
        expect.objectContaining({ name: "config", state: "running" }),
      ]);
    await expect
      .poll(async () => {
        await writeFile(watchedFile, `${await readFile(watchedFile, "utf8")}2`);
        return await lab.calls();
      }, within)
      .toContain("nothing config");
  });

  it("reports a VM that is not what it should be as failing", async () => {
    const lab = await jobLab();
    const supervisor = await lab.supervisor(() => "no disk");
    expect((await supervisor.status()).state).toBe("failing");
  });
});
