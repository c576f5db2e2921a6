import { expect, it } from "vitest";
import { TaskProgress } from "./task-progress.ts";

const line = (task: string, index: number, state: string, stage = "Updating instance") =>
  `${JSON.stringify({ time: 1, stage, tags: ["web"], total: 3, task, index, state })}\n`;

it("knows the stage, how many of its steps are done and which are under way", () => {
  const progress = new TaskProgress();
  progress.add(line("Preparing", 1, "started", "Preparing deployment"));
  progress.add(line("Preparing", 1, "finished", "Preparing deployment"));
  progress.add(line("web/0", 1, "started") + line("web/1", 2, "started") + line("web/0", 1, "finished"));
  expect(progress.now).toEqual({ stage: "Updating instance web", done: 1, total: 3, steps: ["web/1"] });
});

it("reads whole lines only: what is cut comes again from the same byte", () => {
  const progress = new TaskProgress();
  const whole = line("wéb/0", 1, "started");
  progress.add(whole + line("web/1", 2, "started").slice(0, 20));
  expect(progress.bytes).toBe(Buffer.byteLength(whole));
  expect(progress.now?.steps).toEqual(["wéb/0"]);
});

it("passes over what is no event", () => {
  const progress = new TaskProgress();
  progress.add('no JSON\nnull\n[]\n{"stage":7}\n{"type":"warning","message":"m"}\n');
  expect(progress.now).toBeUndefined();
});
