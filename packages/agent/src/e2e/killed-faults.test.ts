import { agentBundle } from "@slipway/testkit/agent-bundle";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { beforeEach, describe, expect, it } from "vitest";
import { SupervisedMachine } from "./testing/supervised-machine.ts";

sampleTests(1 / 4);

const bundle = agentBundle();
const within = { timeout: 120_000, interval: 50 };

/** A job with one fault, and the agent killed while it is at fault. */
describe("an agent that is killed with -9 beside a faulty job", { timeout: 600_000 }, () => {
  let vm: SupervisedMachine;
  beforeEach(async () => {
    vm = await SupervisedMachine.open(bundle());
    return () => vm.close();
  });
  const jobState = async () => (await vm.state()).job_state;
  /** Returns the problem of the job as a Director reads it. */
  const problem = async () => {
    const { processes } = (await vm.machine.caller.value("get_state", "full", "problems")) as {
      processes?: readonly { problem?: string }[];
    };
    return processes?.[0]?.problem ?? "";
  };
  const kill = (pid: number) => process.kill(pid, "SIGKILL");

  /** The job without its fault is brought and runs, once. */
  const mended = async () => {
    await vm.apply({ web: vm.check("web") });
    expect(await vm.machine.caller.value("start")).toBe("started");
    await expect.poll(jobState, within).toBe("running");
    expect(await vm.running()).toEqual(["web"]);
    expect(await problem()).toBe("");
  };

  it.each([
    [
      "never starts",
      "fail",
      /^web of the job web failed to start: .* ended with 7; .*web\.log: .*no door here/,
    ],
    ["ends in a loop", "die", /^web of the job web.*; .*web\.log: .*out of luck/],
    [
      "forks away from its pidfile",
      "fork-away",
      /^web of the job web failed to start: no process.*gone away/,
    ],
  ])("reports again a job that %s, with its log, and the next try works", async (_, start, said) => {
    await vm.apply({ web: vm.check("web", { start, seconds: 1 }) });
    await vm.machine.caller.value("start");
    await expect.poll(problem, within).toMatch(said);
    await vm.restartAgent();
    await expect.poll(problem, within).toMatch(said);
    await expect.poll(jobState, within).toBe("failing");
    expect(await vm.machine.caller.value("stop")).toBe("stopped");
    for (const pid of await vm.pids()) kill(pid);
    await mended();
  });

  it("fails the next stop of a job that ignores SIGTERM with the same words, and the next try works", async () => {
    const { caller } = vm.machine;
    await vm.apply({ web: vm.check("web", { start: "stubborn", stop: "term", seconds: 1 }) });
    await caller.value("start");
    await expect.poll(jobState, within).toBe("running");
    const pid = await vm.pid("web");
    const said = `web of the job web failed to stop: process ${pid} still runs`;
    await expect(caller.value("stop")).rejects.toThrow(said);
    await vm.restartAgent();
    expect(await vm.running()).toEqual(["web"]);
    await expect(caller.value("stop")).rejects.toThrow(said);
    kill(pid);
    expect(await caller.value("stop")).toBe("stopped");
    await mended();
  });
});
