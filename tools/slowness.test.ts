import { expect, it } from "vitest";
import { slowness } from "./slowness.ts";

it("a machine that is as fast as a quiet one or faster keeps the limits", () => {
  expect([slowness(8, () => 10), slowness(8, () => 30)]).toEqual([1, 1]);
});

it("a machine that takes three times as long gets three times the limits", () => {
  expect(slowness(8, () => 90)).toBe(3);
});

it("the limits grow no further than the most, so that a hang ends", () => {
  expect(slowness(2, () => 1e9)).toBe(2);
});

it("the real measurement stays within its bounds", () => {
  const measured = slowness(2);
  expect(measured).toBeGreaterThanOrEqual(1);
  expect(measured).toBeLessThanOrEqual(2);
});
