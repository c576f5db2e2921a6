import { access, readFile } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "@slipway/kernel/clock";
import { agentBundle } from "@slipway/testkit/agent-bundle";
import { fractionsOf, rounds, seed } from "@slipway/testkit/sample";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { beforeEach, describe, expect, it } from "vitest";
import { SupervisedMachine } from "./testing/supervised-machine.ts";

sampleTests(1 / 4);

const bundle = agentBundle();
const PATIENCE_MS = 600_000;
const within = { timeout: 120_000, interval: 50 };

describe(`a real agent that runs jobs (seed ${seed()})`, { timeout: PATIENCE_MS }, () => {
  let vm: SupervisedMachine;
  beforeEach(async () => {
    vm = await SupervisedMachine.open(bundle());
    return () => vm.close();
  });
  const jobState = async () => (await vm.state()).job_state;

  it("starts them, starts a dead one again, leaves them running when it is killed, and stops them", async () => {
    const { caller, paths } = vm.machine;
    await vm.apply({ web: vm.check("web"), db: vm.check("db"), errand: "" });
    expect(await jobState()).toBe("stopped");
    expect(await vm.running()).toEqual([]);
    expect(await caller.value("start")).toBe("started");
    await access(join(paths.base, "monit", "job", "0002_web.monitrc"));
    await access(join(paths.base, "monit", "job", "0000_errand.monitrc"));
    await expect.poll(jobState, within).toBe("running");
    expect(await vm.running()).toEqual(["db", "web"]);
    expect((await vm.state()).processes).toEqual([
      expect.objectContaining({
        name: "db",
        state: "running",
        mem: expect.anything(),
        uptime: expect.anything(),
      }),
      expect.objectContaining({ name: "web", state: "running" }),
    ]);
    const health = () => readFile(join(paths.instanceDir, "health.json"), "utf8");
    expect(await health()).toMatch(/\{"state":"(starting|running)"\}/);

    const first = await vm.pid("web");
    process.kill(first, "SIGKILL");
    await expect.poll(() => vm.pid("web").catch(() => first), within).not.toBe(first);
    await expect.poll(jobState, within).toBe("running");
    const second = await vm.pid("web");
    await vm.restartAgent();
    expect(await jobState()).toBe("running");
    expect(await vm.pid("web")).toBe(second);
    expect(await vm.running()).toEqual(["db", "web"]);

    expect(await caller.value("stop")).toBe("stopped");
    expect(await vm.running()).toEqual([]);
    expect(await health()).toBe('{"state":"stopped"}');
    await vm.restartAgent();
    expect(await jobState()).toBe("stopped");
    expect(await vm.running()).toEqual([]);
    expect(await caller.value("start")).toBe("started");
    await expect.poll(jobState, within).toBe("running");
  });

  it("refuses to start a job whose monit file it cannot read, with file and line", async () => {
    await vm.apply({ web: `${vm.check("web")}  if teapot then alert\n` });
    await expect(vm.machine.caller.value("start")).rejects.toThrow(
      /0000_web\.monitrc, line 5: the test "teapot" is not known/,
    );
    expect(await vm.running()).toEqual([]);
  });

  it("runs each job once after kill -9 at any moment, and none after a stop", async () => {
    const { caller } = vm.machine;
    const fraction = fractionsOf("kills of a supervisor");
    await vm.apply({
      web: vm.check("web"),
      db: `${vm.check("db")} depends on web\n`,
      app: vm.check("app", { stop: "slow-stop" }),
    });
    for (let round = 0; round < rounds({ sample: 1, all: 20 }); round++) {
      const asked = caller.ask("start").catch(() => undefined);
      await systemClock.sleep(fraction() * 400);
      await vm.restartAgent();
      await asked;
      expect(await caller.value("start")).toBe("started");
      await expect.poll(jobState, within).toBe("running");
      expect(await vm.running()).toEqual(["app", "db", "web"]);
      const stopping = caller.ask("stop").catch(() => undefined);
      await systemClock.sleep(fraction() * 1200);
      await vm.restartAgent();
      await stopping;
      expect(await caller.value("stop")).toBe("stopped");
      expect(await vm.running()).toEqual([]);
    }
  });

  it("runs no second start program if it is killed while one hangs, and stops the first", async () => {
    await vm.apply({ web: vm.check("web", { start: "hang", seconds: 2 }) });
    await vm.machine.caller.value("start");
    await expect.poll(() => vm.calls(), within).toEqual(["hang web"]);
    await vm.restartAgent();
    await expect.poll(jobState, within).toBe("failing");
    expect(await vm.calls()).toEqual(["hang web"]);
    expect(await vm.machine.caller.value("stop")).toBe("stopped");
  });

  it("runs fifty processes, starts ten of them again, and stops all", async () => {
    const names = Array.from({ length: 50 }, (_, at) => `p${String(at).padStart(2, "0")}`);
    await vm.apply({ many: names.map((name) => vm.check(name)).join("") });
    await vm.machine.caller.value("start");
    await expect.poll(jobState, within).toBe("running");
    expect(await vm.running()).toEqual(names);
    for (const name of names.slice(0, 10)) process.kill(await vm.pid(name), "SIGKILL");
    await expect.poll(async () => (await vm.calls()).length, within).toBe(60);
    await expect.poll(jobState, within).toBe("running");
    expect(await vm.running()).toEqual(names);
    expect(await vm.machine.caller.value("stop")).toBe("stopped");
    expect(await vm.running()).toEqual([]);
  });
});
