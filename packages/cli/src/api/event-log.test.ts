import { describe, expect, it } from "vitest";
import { EventPrinter } from "./event-log.ts";

const step = (task: string, state: string, time: number, more: object = {}) =>
  JSON.stringify({ time, stage: "Updating instance", tags: ["web"], task, state, ...more });

const shown = (lines: readonly string[]): string => {
  const log = new EventPrinter(7);
  return lines.flatMap((line) => log.add(line)).join("");
};

/** 1970-01-01 00:00:00 and on. */
describe("the events of a task", () => {
  it("put the duration behind a step that nothing came between", () => {
    expect(shown([step("web/a (0)", "started", 1), step("web/a (0)", "finished", 62)])).toBe(
      "\nTask 7 | 00:00:01 | Updating instance web: web/a (0) (00:01:01)",
    );
  });

  it("name a step again when another was shown in between", () => {
    const lines = [
      step("a", "started", 1),
      step("b", "started", 2),
      step("a", "in_progress", 3, { data: { status: "stopping jobs" } }),
      step("a", "in_progress", 4, { data: { status: "starting jobs" } }),
      step("b", "finished", 5),
      step("a", "finished", 6),
    ];
    expect(shown(lines).split("\n").slice(1)).toEqual([
      "Task 7 | 00:00:01 | Updating instance web: a",
      "Task 7 | 00:00:02 | Updating instance web: b",
      "Task 7 | 00:00:03 | Updating instance web: a",
      "Task 7 | 00:00:03 | L stopping jobs: a",
      "Task 7 | 00:00:04 | L starting jobs: a",
      "Task 7 | 00:00:05 | Updating instance web: b (00:00:03)",
      "Task 7 | 00:00:06 | Updating instance web: a (00:00:05)",
    ]);
  });

  it("show failures, errors, warnings and deprecations", () => {
    const lines = [
      JSON.stringify({ time: 1, type: "deprecation", message: "old" }),
      JSON.stringify({ time: 1, type: "warning", message: "careful" }),
      step("a", "started", 2),
      step("a", "failed", 3, { data: { error: "no room" } }),
      JSON.stringify({ time: 4, error: { code: 100, message: "no room at all" } }),
    ];
    expect(shown(lines).split("\n").slice(1)).toEqual([
      "Task 7 | 00:00:01 | Deprecation: old",
      "Task 7 | 00:00:01 | Warning: careful",
      "Task 7 | 00:00:02 | Updating instance web: a (00:00:01)",
      "                  L Error: no room",
      "Task 7 | 00:00:04 | Error: no room at all",
    ]);
  });

  it("are skipped if they are invalid, and cannot move the cursor", () => {
    expect(shown(["", "not json", "7", "null", '{"time":"x"}', '{"time":1,"stage":5,"state":{}}'])).toBe("");
    expect(shown([step("\u001b[2Jweb", "started", 1)])).toContain("web: \\x1b[2Jweb");
  });

  it("sum up to when it was and how long", () => {
    const log = new EventPrinter(7);
    expect(log.summary()).toBeUndefined();
    for (const line of [step("a", "started", 0), step("a", "finished", 3661)]) log.add(line);
    expect(log.summary()).toBe(
      "Task 7 Started  Thu Jan  1 00:00:00 UTC 1970\nTask 7 Finished Thu Jan  1 01:01:01 UTC 1970\nTask 7 Duration 01:01:01\n",
    );
  });
});
