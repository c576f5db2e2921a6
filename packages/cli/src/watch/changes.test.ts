import { expect, it } from "vitest";
import { changesBetween } from "./changes.ts";
import type { DirectorState } from "./model.ts";
import { AT, failing, instance, seen, task } from "./testing/states.ts";

const lines = (before: DirectorState | undefined, after: DirectorState) =>
  changesBetween(before, after).map(({ line }) => line);

it("the first look reports everything but earlier events", () => {
  const events = [{ id: "1", at: AT, text: "create vm", failed: false, deployment: "shop", task: "" }];
  expect(lines(undefined, seen({ events, tasks: [task(7)] }))).toEqual([
    "12:00:00 shop: deployment seen",
    "12:00:00 shop web/0: running, 10.0.0.0, VM vm-0, processes 1/1",
    "12:00:00 shop web/1: running, 10.0.0.1, VM vm-1, processes 1/1",
    "12:00:00 shop task 7 (create deployment): processing, Updating instance web 2/5: web/2 (canary)",
  ]);
});

it("reports nothing if only vitals and time differ", () => {
  const later = seen({ at: AT + 5_000, instances: [instance(0, { vitals: { cpu: 90 } }), instance(1)] });
  expect(changesBetween(seen(), later)).toEqual([]);
});

it("reports a failing instance with its problem and the action, as a document too", () => {
  const [change] = changesBetween(seen(), seen({ instances: [instance(0), failing(1)] }));
  expect(change?.line).toBe(
    "12:00:00 shop web/1: running -> failing, 10.0.0.1, VM vm-1, processes 0/1, process nginx is failing, task 9 replaces its VM",
  );
  expect(change?.document).toMatchObject({
    time: "2026-11-17T12:00:00.000Z",
    type: "instance",
    change: "changed",
    deployment: "shop",
    instance: "web/6f1c0000-0000-4000-8000-000000000001",
    state: "failing",
    problems: ["process nginx is failing"],
    since: "2026-11-17T11:58:30.000Z",
  });
});

it("reports what is gone, and a new deployment", () => {
  expect(lines(seen(), seen({ instances: [], deployments: ["bank"] }))).toEqual([
    "12:00:00 shop: deployment gone",
    "12:00:00 bank: deployment appeared",
    "12:00:00 shop web/0: gone",
    "12:00:00 shop web/1: gone",
  ]);
});

it("reports a task's progress and its end, with the reason of a failure", () => {
  const on = task(7, { progress: { stage: "Updating instance web", done: 3, total: 5, steps: [] } });
  const over = task(7, { state: "error", progress: undefined, result: "no room" });
  const of = (one: typeof on) => seen({ tasks: [one] });
  expect(lines(of(task(7)), of(on))).toEqual([
    "12:00:00 shop task 7 (create deployment): processing, Updating instance web 3/5",
  ]);
  expect(lines(of(on), of(over))).toEqual(["12:00:00 shop task 7 (create deployment): error: no room"]);
});

it("reports once that the Director does not answer, and that it answers again", () => {
  const away = seen({ trouble: { why: "the connection was refused", since: AT } });
  expect(lines(seen(), away)).toEqual(["12:00:00 the Director does not answer: the connection was refused"]);
  expect(lines(away, away)).toEqual([]);
  expect(lines(away, seen())).toEqual(["12:00:00 the Director answers again"]);
});
