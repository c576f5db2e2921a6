import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { needs } from "@slipway/testkit/needs";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { describe, expect, it } from "vitest";
import { lives, NEVER } from "../testing/job-lab.ts";
import { MONIT, monitLab } from "../testing/monit-lab.ts";

sampleTests(1 / 8);

/** monit starts one service after the other, and waits 30 s for one that does not come up. */
const within = { timeout: 240_000, interval: 200 };
const real = needs("monit", MONIT !== undefined, "monit is not installed");

describe.runIf(real)("monit itself", { timeout: 600_000 }, () => {
  it("is started, takes the files of the jobs, starts them, reports them, starts a dead one again, and stops them", async () => {
    const lab = await monitLab();
    const { monit } = lab;
    expect(await monit.status()).toEqual({ state: "running", processes: [] });
    await monit.watch([await lab.job("web", "CHECK web"), await lab.job("db", "CHECK db")], NEVER);
    await monit.start(NEVER);
    await expect.poll(async () => (await monit.status()).state, within).toBe("running");
    const { processes } = await monit.status();
    expect(processes.map((one) => one.name).sort()).toEqual(["db", "web"]);
    expect(processes[0]).toMatchObject({
      state: "running",
      uptime: { secs: expect.any(Number) },
      mem: { kb: expect.any(Number), percent: expect.any(Number) },
      cpu: { total: expect.any(Number) },
    });
    expect(await readFile(join(lab.dir, "web.env"), "utf8")).toContain("MONIT_SERVICE=web\n");

    const before = (await lab.pid("web")) ?? 0;
    await lab.end("web");
    await expect.poll(async () => (await lab.pid("web")) !== before, within).toBe(true);
    await expect
      .poll(() => lab.sent.map((alert) => alert.title), within)
      .toContain("web (10.0.0.5) - Does not exist - restart");
    expect(lab.sent.find((alert) => alert.title.includes("Does not exist"))?.severity).toBe(1);
    await expect.poll(async () => (await monit.status()).state, within).toBe("running");

    const pid = (await lab.pid("web")) ?? 0;
    await monit.stop({ wait: true }, NEVER);
    expect(lives(pid)).toBe(false);
    expect((await monit.status()).state).toBe("stopped");
    await monit.watch([], NEVER);
    expect((await monit.status()).processes).toEqual([]);
  });

  it("is asked why a process does not run, and the last lines of its job's log are added", async () => {
    const lab = await monitLab();
    const { monit } = lab;
    await monit.watch([await lab.job("web", "CHECK web fail"), await lab.job("db", "CHECK db")], NEVER);
    await writeFile(join(lab.paths.sysLog, "web", "web.stderr.log"), "one\ncannot open the door\n");
    await monit.start(NEVER);
    const told = async () =>
      (await monit.status({ problems: true })).processes.find(({ name }) => name === "web");
    await expect
      .poll(async () => (await told())?.problem, within)
      .toMatch(/^web of the job web: .+; .*web\.stderr\.log: one \| cannot open the door$/);
    await expect
      .poll(
        async () => (await monit.status({ problems: true })).processes.find(({ name }) => name === "db"),
        within,
      )
      .toMatchObject({ state: "running" });
    const { processes } = await monit.status({ problems: true });
    expect(processes.find(({ name }) => name === "db")).not.toHaveProperty("problem");
    await monit.stop({ wait: false }, NEVER);
  });

  it("lets go of services that are unmonitored", async () => {
    const lab = await monitLab();
    await lab.monit.watch([await lab.job("web", "CHECK web")], NEVER);
    await lab.monit.start(NEVER);
    await expect.poll(async () => (await lab.monit.status()).state, within).toBe("running");
    await lab.monit.unmonitor(NEVER);
    expect(await lab.monit.status()).toMatchObject({ state: "failing", processes: [{ state: "unknown" }] });
    await lab.monit.stop({ wait: false }, NEVER);
  });

  it("is not given files that it would end over", async () => {
    const lab = await monitLab();
    const bad = await lab.job("web", "CHECK web\n if frobnication > 3 then restart");
    await expect(lab.monit.watch([bad], NEVER)).rejects.toThrow(
      /does not take the monit files.*0000_web\.monitrc:5/s,
    );
    await expect(lab.monit.status()).resolves.toMatchObject({ processes: [] });
  });
});
