import { fakeClock } from "@slipway/testkit/fake-clock";
import { describe, expect, it } from "vitest";
import { LeaseLost } from "../store/lease.ts";
import { DirectorStopping, LockLost } from "./errors.ts";
import { makeEventLog } from "./events.ts";
import { TaskCancelled } from "./task.ts";

function log() {
  const controller = new AbortController();
  const lines: string[] = [];
  const clock = fakeClock({ start: 1_731_700_001_999 });
  return {
    controller,
    lines,
    clock,
    events: makeEventLog(clock, controller.signal, (line) => lines.push(line)),
  };
}

describe("the event log", () => {
  it("has, line by line, what the CLI reads", async () => {
    const { lines, clock, events } = log();
    const stage = events.stage("Updating instance", ["web"], 2);
    await stage.step("web/6f1c (0) (canary)", async (progress) => {
      await clock.advance(2000);
      progress("executing pre-stop");
    });
    const failing = stage.step("web/91aa (1)", () => Promise.reject(new Error("processes did\nnot start")));
    await expect(failing).rejects.toThrow("processes did");
    events.warn("careful");
    events.error(400007, "'web/91aa (1)' did not become healthy");
    expect(lines.join("")).toBe(
      `${[
        '{"time":1731700001,"stage":"Updating instance","tags":["web"],"total":2,"task":"web/6f1c (0) (canary)","index":1,"state":"started","progress":0}',
        '{"time":1731700003,"stage":"Updating instance","tags":["web"],"total":2,"task":"web/6f1c (0) (canary)","index":1,"state":"in_progress","progress":5,"data":{"status":"executing pre-stop"}}',
        '{"time":1731700003,"stage":"Updating instance","tags":["web"],"total":2,"task":"web/6f1c (0) (canary)","index":1,"state":"finished","progress":100}',
        '{"time":1731700003,"stage":"Updating instance","tags":["web"],"total":2,"task":"web/91aa (1)","index":2,"state":"started","progress":0}',
        '{"time":1731700003,"stage":"Updating instance","tags":["web"],"total":2,"task":"web/91aa (1)","index":2,"state":"failed","progress":100,"data":{"error":"processes did\\nnot start"}}',
        '{"time":1731700003,"type":"warning","message":"careful"}',
        `{"time":1731700003,"error":{"code":400007,"message":"'web/91aa (1)' did not become healthy"}}`,
      ].join("\n")}\n`,
    );
  });

  it("never writes a float, whatever it is given", async () => {
    const { lines, events } = log();
    await events.stage("Odd", [], 2.5).step("a", () => Promise.resolve());
    await events.stage("Odd", [], Number.NaN).step("b", () => Promise.resolve());
    events.error(100.5, "x");
    for (const line of lines)
      JSON.parse(line, (_, value: unknown) => {
        if (typeof value === "number") expect(Number.isInteger(value), line).toBe(true);
        return value;
      });
    expect(lines.map((line) => JSON.parse(line).total)).toEqual([2, 2, null, null, undefined]);
  });

  it("has an array of tags in every line, also when none are given", async () => {
    const { lines, events } = log();
    await events.stage("Delete VM").step("a", async (progress) => progress("half"));
    expect(lines.map((line) => JSON.parse(line).tags)).toEqual([[], [], []]);
  });

  it("numbers the steps of a stage that run at once by their start", async () => {
    const { lines, events } = log();
    const stage = events.stage("Creating missing vms", [], 3);
    await Promise.all(["a", "b", "c"].map((name) => stage.step(name, () => Promise.resolve())));
    const seen = lines
      .map((line) => JSON.parse(line))
      .map((line) => `${line.task}${line.index} ${line.state}`);
    expect(seen.slice(0, 3)).toEqual(["a1 started", "b2 started", "c3 started"]);
    expect(new Set(seen.slice(3))).toEqual(new Set(["a1 finished", "b2 finished", "c3 finished"]));
  });

  it("begins no step of a task that is to end", async () => {
    const { controller, lines, events } = log();
    controller.abort(new TaskCancelled("cancelled"));
    await expect(events.stage("S").step("a", () => Promise.resolve())).rejects.toThrow(TaskCancelled);
    expect(lines).toEqual([]);
  });

  it.each([
    ["cancelled", new TaskCancelled("c"), true],
    ["without its lock", LockLost({ what: "deployment 'shop'", task: 1 }), true],
    ["handed back", DirectorStopping({ task: 1 }), false],
    ["taken over", LeaseLost({ task: 1 }), false],
  ])("says whether a step of a task that is %s has failed", async (_, reason, failed) => {
    const { controller, lines, events } = log();
    const step = events.stage("S").step("a", () => {
      controller.abort(reason);
      return Promise.reject(reason);
    });
    await expect(step).rejects.toBe(reason);
    expect(lines.some((line) => line.includes('"failed"'))).toBe(failed);
  });

  it("keeps credentials of URLs out", async () => {
    const { lines, events } = log();
    const step = events.stage("S").step("a", (progress) => {
      progress("from https://me:canary@host/x?X-Amz-Signature=canary&a=1");
      return Promise.reject(new Error("no answer from https://me:canary@host/x"));
    });
    await expect(step).rejects.toThrow();
    events.warn("postgres://u:canary@db/x");
    expect(lines.join("")).not.toContain("canary");
    expect(lines.join("")).toContain("https://<redacted>@host/x?X-Amz-Signature=<redacted>&a=1");
  });
});
