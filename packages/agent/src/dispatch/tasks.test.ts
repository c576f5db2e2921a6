import { readFile, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { fakeClock } from "@slipway/testkit/fake-clock";
import { describe, expect, it } from "vitest";
import { silentLog } from "../log.ts";
import { TaskQueue } from "./tasks.ts";
import { countingRandom, dispatching, gate, taskId } from "./testing/dispatching.ts";

const exception = (message: string) => ({ exception: { message } });
const running = (id: string) => ({ value: { agent_task_id: id, state: "running" } });

/** A task that ends when the test says so, whose answers are held for 100 ms. */
async function held() {
  const work = gate<string>();
  const clock = fakeClock();
  const actions = { stop: async () => (await work.passed) as "stopped" };
  return { work, clock, ...(await dispatching({ actions, holdMs: 100, clock })) };
}

describe("a task", () => {
  it("is running until it has ended, and then answers the bare result every time", async () => {
    const work = gate<string>();
    const { ask, tasks } = await dispatching({
      actions: { stop: async () => (await work.passed) as "stopped" },
    });
    expect(await ask("stop")).toEqual(running("task-1"));
    expect(await ask("get_task", ["task-1"])).toEqual(running("task-1"));
    work.open("stopped");
    await tasks.idle();
    for (let i = 0; i < 12; i++) expect(await ask("get_task", ["task-1"])).toEqual({ value: "stopped" });
  });

  it("is answered with its result if it ends while get_task waits", async () => {
    const { work, clock, ask } = await held();
    const first = ask("stop");
    await expect.poll(() => clock.waiting).toBe(1);
    await clock.advance(100);
    expect(await first).toEqual(running("task-1"));
    const told = ask("get_task", ["task-1"]);
    await expect.poll(() => clock.waiting).toBe(1);
    work.open("stopped");
    expect(await told).toEqual({ value: "stopped" });
    expect(clock.waiting).toBe(0);
    expect(await ask("get_task", ["task-1"])).toEqual({ value: "stopped" });
  });

  it("is answered with its value if it ends at once and its sender takes results, else as running", async () => {
    const { ask } = await dispatching({
      actions: { stop: async () => "stopped", drain: () => Promise.reject(new Error("no")) },
      holdMs: 60_000,
      clock: fakeClock(),
    });
    expect(await ask("stop")).toEqual(running("task-1"));
    expect(await ask("stop", [], { takes_result: false })).toEqual(running("task-2"));
    expect(await ask("stop", [], { takes_result: true })).toEqual({ value: "stopped" });
    expect(await ask("get_task", ["task-3"])).toEqual({ value: "stopped" });
    // A failure is reported by get_task as always.
    expect(await ask("drain", ["shutdown"], { takes_result: true })).toEqual(running("task-4"));
    expect(await ask("get_task", ["task-4"])).toEqual({
      exception: { message: "Action Failed get_task: Task task-4 result: no" },
    });
  });

  it("is running for a sender that takes results if it takes longer", async () => {
    const { work, clock, ask } = await held();
    const first = ask("stop", [], { takes_result: true });
    await expect.poll(() => clock.waiting).toBe(1);
    await clock.advance(100);
    expect(await first).toEqual(running("task-1"));
    work.open("stopped");
    await expect.poll(() => ask("get_task", ["task-1"])).toEqual({ value: "stopped" });
  });

  it("is reported as running after a while, or at once if the agent is about to end", async () => {
    const clock = fakeClock();
    const { ask, tasks } = await dispatching({
      actions: { stop: () => new Promise(() => undefined) },
      holdMs: 100,
      clock,
    });
    const first = ask("stop");
    await expect.poll(() => clock.waiting).toBe(1);
    await clock.advance(100);
    await first;
    const told = ask("get_task", ["task-1"]);
    await expect.poll(() => clock.waiting).toBe(1);
    await clock.advance(100);
    expect(await told).toEqual(running("task-1"));
    const last = ask("get_task", ["task-1"]);
    await expect.poll(() => clock.waiting).toBe(1);
    tasks.suspend();
    expect(await last).toEqual(running("task-1"));
    expect(await ask("get_task", ["task-1"])).toEqual(running("task-1"));
  });

  it("answers with a number as such, and later changes of the returned object have no effect", async () => {
    const given = { stdout: "a", stderr: "", exit_code: 7 };
    const { ask, outcome } = await dispatching({
      actions: { drain: async () => 0, run_errand: async () => given },
    });
    expect(await outcome("drain", ["shutdown"])).toEqual({ value: 0 });
    expect(await outcome("run_errand")).toEqual({ value: given });
    given.stdout = "changed";
    expect(await ask("get_task", ["task-2"])).toEqual({ value: { stdout: "a", stderr: "", exit_code: 7 } });
  });

  it("reports its failure the same way every time", async () => {
    const { ask, outcome } = await dispatching({
      actions: { mount_disk: async () => Promise.reject(new Error("no such device")) },
    });
    const told = exception("Action Failed get_task: Task task-1 result: no such device");
    expect(await outcome("mount_disk", ["disk-1"])).toEqual(told);
    expect(await ask("get_task", ["task-1"])).toEqual(told);
  });

  it("is accepted with wrong arguments and reports them by get_task", async () => {
    const { outcome } = await dispatching({ actions: { apply: async () => "applied" } });
    expect(await outcome("apply", [])).toEqual(
      exception(
        "Action Failed get_task: Task task-1 result: Extracting method arguments from payload: Not enough arguments, expected 1, got 0",
      ),
    );
  });

  it("is not found by get_task and cancel_task if it was never started", async () => {
    const { ask } = await dispatching({ actions: {} });
    expect(await ask("get_task", ["x"])).toEqual(
      exception("Action Failed get_task: Task with id x could not be found"),
    );
    expect(await ask("cancel_task", ["x"])).toEqual(
      exception("Action Failed cancel_task: Task with id x could not be found"),
    );
  });

  it("waits for those that came before it, and ping waits for none", async () => {
    const first = gate();
    const began: string[] = [];
    const { ask, tasks } = await dispatching({
      actions: {
        ping: async () => "pong",
        mount_disk: async ({ diskCid }) => {
          began.push(diskCid);
          if (began.length === 1) await first.passed;
          return {};
        },
      },
    });
    for (const cid of ["a", "b", "c"]) taskId(await ask("mount_disk", [cid]));
    expect(await ask("ping")).toEqual({ value: "pong" });
    expect(await ask("get_task", ["task-3"])).toEqual(running("task-3"));
    expect(began).toEqual(["a"]);
    first.open();
    await tasks.idle();
    expect(began).toEqual(["a", "b", "c"]);
  });

  it("is refused when too many have not ended", async () => {
    const tasks = await TaskQueue.open({
      path: "/nonexistent/tasks.json",
      random: countingRandom(),
      log: silentLog,
      limits: { unfinished: 1 },
    });
    const forever = { method: "stop", cancellable: false, record: undefined, run: () => gate().passed };
    await tasks.submit(forever);
    await expect(tasks.submit(forever)).rejects.toThrow("too many tasks are waiting already (1)");
  });

  it("is forgotten, the oldest first, only when very many or very large ones have ended since", async () => {
    const tasks = await TaskQueue.open({
      path: "/nonexistent/tasks.json",
      random: countingRandom(),
      log: silentLog,
      limits: { finished: 3, resultBytes: 1000 },
    });
    const giving = (value: string) =>
      tasks.submit({ method: "stop", cancellable: false, record: undefined, run: async () => value });
    for (const value of ["1", "2", "3", "4"]) await giving(value);
    await tasks.idle();
    expect(tasks.find("task-1")).toBeUndefined();
    expect(tasks.find("task-2")).toEqual({ state: "done", value: "2" });
    await giving("x".repeat(2000));
    await tasks.idle();
    expect(tasks.find("task-4")).toBeUndefined();
    expect(tasks.find("task-5")).toEqual({ state: "done", value: "x".repeat(2000) });
  });
});

describe("cancelling", () => {
  it("aborts an errand under way, may be repeated, and leaves the result to the errand", async () => {
    const began = gate();
    const { ask, tasks } = await dispatching({
      actions: {
        run_errand: async (_, { signal }) => {
          began.open();
          await new Promise((resolve) => signal.addEventListener("abort", resolve));
          return { stdout: "", stderr: "", exit_code: 143 };
        },
      },
    });
    await ask("run_errand");
    await began.passed;
    expect(await ask("cancel_task", ["task-1"])).toEqual({ value: "canceled" });
    expect(await ask("cancel_task", ["task-1"])).toEqual({ value: "canceled" });
    await tasks.idle();
    expect(await ask("get_task", ["task-1"])).toMatchObject({ value: { exit_code: 143 } });
    expect(await ask("cancel_task", ["task-1"])).toEqual({ value: "canceled" });
  });

  it("starts a waiting drain with an aborted signal", async () => {
    const first = gate();
    const { ask, tasks } = await dispatching({
      actions: {
        stop: async () => {
          await first.passed;
          return "stopped";
        },
        drain: async (_, { signal }) => (signal.aborted ? 1 : 0),
      },
    });
    await ask("stop");
    await ask("drain", ["shutdown"]);
    expect(await ask("cancel_task", ["task-2"])).toEqual({ value: "canceled" });
    first.open();
    await tasks.idle();
    expect(await ask("get_task", ["task-2"])).toEqual({ value: 1 });
  });

  it("is not supported for any other running task", async () => {
    const work = gate();
    const { ask, tasks } = await dispatching({
      actions: {
        mount_disk: async () => {
          await work.passed;
          return {};
        },
      },
    });
    await ask("mount_disk", ["disk-1"]);
    expect(await ask("cancel_task", ["task-1"])).toEqual(
      exception("Action Failed cancel_task: not supported"),
    );
    work.open();
    await tasks.idle();
    expect(await ask("cancel_task", ["task-1"])).toEqual({ value: "canceled" });
  });
});

describe("a restart of the agent", () => {
  const settings = [{ trusted_certs: "", mbus: { urls: ["nats://10.0.0.1:4222"] } }];

  it("keeps the task of update_settings running until the next process answers ok", async () => {
    const before = await dispatching({
      actions: {
        update_settings: async (_, { services }) => {
          services.restart("the bus changed");
          return "ok";
        },
      },
    });
    const id = taskId(await before.ask("update_settings", settings));
    await before.tasks.idle();
    expect(before.restarts).toEqual(["the bus changed"]);
    expect(await before.ask("get_task", [id])).toEqual(running(id));
    expect(await before.ask("update_settings", settings)).toEqual(
      exception("Action Failed update_settings: restarting agent: it takes no new tasks"),
    );

    const after = await dispatching({ actions: {}, after: before });
    expect(await after.ask("get_task", [id])).toEqual({ value: "ok" });
    expect(await after.ask("get_task", [id])).toEqual({ value: "ok" });
    expect(await fileOf(after)).toEqual({});
  });

  it("finds the task recorded in upstream's format, readable by root only, before it began", async () => {
    const work = gate();
    let recorded: unknown;
    const it = await dispatching({
      actions: {
        update_settings: async () => {
          recorded = await fileOf(it);
          await work.passed;
          return "ok";
        },
      },
    });
    const body = JSON.stringify({ method: "update_settings", arguments: settings });
    const handled = await it.handler(body, "test");
    const id = taskId((handled as unknown as { reply: { value: unknown } }).reply);
    // Already when the caller learns the id.
    expect(await fileOf(it)).toMatchObject({ [id]: { TaskID: id } });
    work.open();
    await it.tasks.idle();
    expect(recorded).toEqual({
      [id]: {
        TaskID: id,
        Method: "update_settings",
        Payload: Buffer.from(body).toString("base64"),
        Started: true,
      },
    });
    expect((await stat(it.tasksFile)).mode & 0o777).toBe(0o600);
    expect(await fileOf(it)).toEqual({});
    expect(await it.ask("get_task", [id])).toEqual({ value: "ok" });
  });

  it("forgets other tasks, and one that had not begun is not called done", async () => {
    const before = await dispatching({
      actions: {
        stop: () => gate<"stopped">().passed,
        update_settings: async () => "ok",
      },
    });
    const stop = taskId(await before.ask("stop"));
    const update = taskId(await before.ask("update_settings", settings));
    const after = await dispatching({ actions: {}, after: before });
    for (const id of [stop, update])
      expect(await after.ask("get_task", [id])).toEqual(
        exception(`Action Failed get_task: Task with id ${id} could not be found`),
      );
  });

  it("puts a torn, foreign or empty record file aside and reports it", async () => {
    for (const content of ["", '{"a":{"TaskID":', "[]", '{"a":{"TaskID":7}}']) {
      const before = await dispatching({ actions: { update_settings: async () => "ok" } });
      await before.outcome("update_settings", settings);
      await writeFile(before.tasksFile, content);
      const after = await dispatching({ actions: { update_settings: async () => "ok" }, after: before });
      expect(after.lines.join()).toContain("AGT-021");
      expect(await readFile(`${before.tasksFile}.unreadable`, "utf8")).toBe(content);
      expect(await after.outcome("update_settings", settings)).toEqual({ value: "ok" });
    }
  });

  it("takes up what upstream's agent wrote, but no method that does not resume", async () => {
    const before = await dispatching({ actions: { update_settings: async () => "ok" } });
    await before.outcome("update_settings", settings);
    await writeFile(
      before.tasksFile,
      JSON.stringify({
        u: { TaskID: "u", Method: "update_settings", Payload: "e30=" },
        c: { TaskID: "c", Method: "configure_networks", Payload: null },
      }),
    );
    const after = await dispatching({ actions: {}, after: before });
    expect(await after.ask("get_task", ["u"])).toEqual({ value: "ok" });
    expect(await after.ask("get_task", ["c"])).toMatchObject({ exception: {} });
  });

  it("cannot be promised when the record cannot be written: the task is refused and does not run", async () => {
    let ran = false;
    const it = await dispatching({
      actions: {
        update_settings: async () => {
          ran = true;
          return "ok";
        },
        ping: async () => "pong",
      },
    });
    // A file where the directory should be.
    await writeFile(dirname(it.tasksFile), "");
    expect(await it.ask("update_settings", settings)).toMatchObject({
      exception: { message: expect.stringMatching(/^Action Failed update_settings: .*(EEXIST|ENOTDIR)/) },
    });
    await it.tasks.idle();
    expect(ran).toBe(false);
    expect(await it.ask("get_task", ["task-1"])).toMatchObject({ exception: {} });
  });

  it("aborts the signal of running work", async () => {
    const began = gate();
    let reason: unknown;
    const { ask, tasks } = await dispatching({
      actions: {
        mount_disk: async (_, { signal }) => {
          began.open();
          await new Promise((resolve) => signal.addEventListener("abort", resolve));
          reason = signal.reason;
          throw signal.reason;
        },
      },
    });
    await ask("mount_disk", ["disk-1"]);
    await began.passed;
    tasks.close();
    await tasks.idle();
    expect(reason).toEqual(new Error("the agent is ending"));
    expect(await ask("get_task", ["task-1"])).toEqual(running("task-1"));
  });
});

async function fileOf({ tasksFile }: { readonly tasksFile: string }): Promise<unknown> {
  return JSON.parse(await readFile(tasksFile, "utf8"));
}
