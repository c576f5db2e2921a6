import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemExec } from "@slipway/kernel/exec";
import { agentBundle } from "@slipway/testkit/agent-bundle";
import { AgentException } from "@slipway/testkit/agent-caller";
import { eventually } from "@slipway/testkit/eventually";
import { needs } from "@slipway/testkit/needs";
import { sampleOf } from "@slipway/testkit/sample";
import { canUseSandboxes } from "@slipway/testkit/sandbox";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { gone } from "../actions/testing/job-scripts.ts";
import { archiveOf, sha1 } from "../jobs/testing/lab.ts";
import { DeadlyCommands } from "./testing/deadly-commands.ts";
import { SupervisedMachine } from "./testing/supervised-machine.ts";

const bundle = agentBundle();
const mounts = needs("userns", await canUseSandboxes(), "mount namespaces cannot be made here");
const within = { timeout: 120_000, interval: 50 };

/**
 * Killed at a place that the work itself names, never at a time. Beside each work a job runs that nobody touches: the
 * next agent must know it again.
 */
describe("an agent that is killed with -9", { timeout: 600_000 }, () => {
  let vm: SupervisedMachine;
  let before: number;

  const jobState = async () => (await vm.state()).job_state;
  const open = async (files: () => Readonly<Record<string, string>> = () => ({}), options = {}) => {
    vm = await SupervisedMachine.open(bundle(), options);
    await vm.apply({ web: vm.check("web"), work: "" }, files());
    await vm.machine.caller.value("start");
    await expect.poll(jobState, within).toBe("running");
    before = await vm.pid("web");
  };
  afterEach(() => vm.close());

  /** The first time it says so and never ends, with a child beside it. Every other time it does the rest. */
  const once = (rest: string) => `#!/bin/bash
dir=${vm.machine.dir}
if [ ! -e $dir/first ]; then
  touch $dir/first
  (while [ -d $dir ]; do sleep 0.05; done) &
  echo "$$ $!" > $dir/begun.new && mv $dir/begun.new $dir/begun
  while [ -d $dir ]; do sleep 0.05; done
fi
${rest}`;
  const begun = async (): Promise<readonly number[]> =>
    await eventually("the work", async () =>
      (await readFile(join(vm.machine.dir, "begun"), "utf8")).trim().split(" ").map(Number),
    );
  /** The task of the agent before is not known, and the job that was running has not noticed. */
  const nothingHappened = async (task: string) => {
    await expect(vm.machine.caller.value("get_task", task)).rejects.toThrow(AgentException);
    expect(await vm.pid("web")).toBe(before);
    expect(await vm.running()).toEqual(["web"]);
    expect(await vm.calls()).toEqual(["start web"]);
  };
  /** Files of work that was cut off. */
  const halves = async () =>
    (await readdir(vm.machine.paths.dataTmp)).filter((name) => /^(fetched|compiled|logs)-/.test(name));

  const ENDS = ["and all of it runs on", "and its shell ends, but not its child"];
  describe.each(sampleOf("killed in a script", ENDS, 1))("during a script of a job, %s", (how) => {
    beforeEach(() => open(() => ({ "work/bin/run": once("echo whole"), "work/bin/drain": once("echo 0") })));
    const killed = async () => {
      const [shell = 0, child = 0] = await begun();
      await vm.machine.agent?.kill();
      if (how.includes("child")) {
        process.kill(shell, "SIGKILL");
        await gone(shell);
      }
      await vm.machine.started();
      return [shell, child];
    };

    it("reports at its start what still runs, and ends it before it runs the errand again", async () => {
      const { caller } = vm.machine;
      const task = await caller.task("run_errand", "work");
      const [shell = 0, child = 0] = await killed();
      await vm.machine.agent?.said(/work\.run still runs as process .*its task is lost/);
      await nothingHappened(task);
      const result = { stdout: "whole\n", stderr: "", exit_code: 0 };
      expect(await caller.value("run_errand", "work")).toEqual(result);
      for (const pid of [shell, child]) await gone(pid);
      expect(await readdir(join(vm.machine.paths.boshDir, "running-scripts"))).toEqual([]);
      expect(await jobState()).toBe("running");
    });

    it("drains again, after what the first drain left has ended, and stops and starts", async () => {
      const { caller } = vm.machine;
      const task = await caller.task("drain", "shutdown");
      const [shell = 0, child = 0] = await killed();
      await vm.machine.agent?.said("work.drain still runs as process");
      await nothingHappened(task);
      expect(await caller.value("drain", "shutdown")).toBe(0);
      for (const pid of [shell, child]) await gone(pid);
      expect(await caller.value("stop")).toBe("stopped");
      expect(await vm.running()).toEqual([]);
      expect(await caller.value("start")).toBe("started");
      await expect.poll(jobState, within).toBe("running");
    });
  });

  it("leaves no partial package after a kill during a compilation, and compiles it the next time", async () => {
    await open();
    const { caller, paths } = vm.machine;
    const source = await archiveOf({ packaging: once("echo built > $BOSH_INSTALL_TARGET/x") });
    const blob = { blob_id: "source", checksum: sha1(source), payload: source.toString("base64") };
    await caller.value("upload_blob", blob);
    const task = await caller.task("compile_package", "source", sha1(source), "app", "1", {});
    const pids = await begun();
    await vm.machine.agent?.kill();
    await vm.machine.started();
    await nothingHappened(task);
    expect(await halves()).toEqual([]);
    const again = await caller.value("compile_package", "source", sha1(source), "app", "1", {});
    expect(again).toHaveProperty("result.blobstore_id");
    for (const pid of pids) await gone(pid);
    expect(await readdir(paths.packages)).toEqual([]);
    expect(await readdir(paths.compile)).toEqual([]);
    expect(await halves()).toEqual([]);
    expect(await jobState()).toBe("running");
  });

  const MOMENTS = ["before", "after"] as const;
  const METHODS: readonly [method: string, args: readonly unknown[]][] = [
    ["fetch_logs", ["job", null]],
    ["bundle_logs", [{ log_type: "job", filters: [] }]],
  ];
  describe.runIf(mounts).each(sampleOf("killed at logs", MOMENTS, 1))("%s logs are packed", (when) => {
    beforeEach(async () => {
      await open(undefined, { mounts: true });
      await mkdir(join(vm.machine.paths.sysLog, "web"), { recursive: true });
      await writeFile(join(vm.machine.paths.sysLog, "web", "web.log"), "said\n");
    });
    const content = async (archive: string) => (await systemExec("tar", ["-tzf", archive])).stdout;

    it.each(sampleOf("killed packing logs", METHODS, 1))(
      "for %s, leaves no half of them and packs them the next time",
      async (method, args) => {
        const { caller, paths } = vm.machine;
        const commands = await DeadlyCommands.in(vm.machine, ["tar"]);
        await commands.arm({ when, at: 1 });
        const lost = caller.value(method, ...args);
        await expect(lost).rejects.toSatisfy((error: unknown) => !(error instanceof AgentException));
        expect(await vm.machine.agent?.end()).toBe("SIGKILL");
        await commands.disarm();
        await vm.machine.started();
        expect(await vm.pid("web")).toBe(before);
        expect(await halves()).toEqual([]);
        const told = (await caller.value(method, ...args)) as {
          blobstore_id?: string;
          logs_tar_path?: string;
        };
        const blobs = join(paths.base, "blobs");
        expect(await content(told.logs_tar_path ?? join(blobs, told.blobstore_id ?? ""))).toContain(
          "./web/web.log\n",
        );
        const stored = told.blobstore_id === undefined ? [] : [told.blobstore_id];
        expect(await readdir(blobs).catch(() => [])).toEqual(stored);
      },
    );
  });

  it("lets a start program end after a kill, runs no other one, and takes over the job that it started", async () => {
    await open();
    const { caller } = vm.machine;
    await vm.apply({ web: vm.check("web"), slow: vm.check("slow", { start: "gated", seconds: 300 }) });
    await writeFile(join(vm.machine.dir, "calls"), "");
    expect(await caller.value("start")).toBe("started");
    await expect.poll(async () => (await vm.calls()).toSorted(), within).toEqual(["gated slow", "start web"]);
    await expect.poll(() => vm.running(), within).toEqual(["web"]);
    await vm.restartAgent();
    expect(await jobState()).toBe("starting");
    await writeFile(join(vm.machine.dir, "go"), "");
    await expect.poll(jobState, within).toBe("running");
    expect(await vm.running()).toEqual(["slow", "web"]);
    expect((await vm.calls()).toSorted()).toEqual(["gated slow", "start web"]);
    expect(await caller.value("stop")).toBe("stopped");
    expect(await vm.running()).toEqual([]);
  });
});
