import { fakeClock } from "@slipway/testkit/fake-clock";
import { describe, expect, it } from "vitest";
import { isoTime, systemClock } from "./clock.ts";

describe("the clock of the system", () => {
  it("goes forward", async () => {
    const before = systemClock.monotonic();
    await systemClock.sleep(0);
    expect(systemClock.monotonic()).toBeGreaterThanOrEqual(before);
    expect(Math.abs(systemClock.now() - Date.now())).toBeLessThan(60_000);
  });

  it("ends a sleep that is called off, before it begins or during it, with the reason", async () => {
    await expect(systemClock.sleep(1e9, AbortSignal.abort(new Error("before")))).rejects.toThrow("before");
    const controller = new AbortController();
    const sleeping = systemClock.sleep(1e9, controller.signal);
    controller.abort(new Error("during"));
    await expect(sleeping).rejects.toThrow("during");
  });

  it("does not take a delay too long for a timer for no delay at all", async () => {
    const controller = new AbortController();
    const sleeping = systemClock.sleep(2 ** 40, controller.signal);
    let fired = false;
    const cancel = systemClock.after(2 ** 40, () => {
      fired = true;
    });
    await systemClock.sleep(2);
    expect(fired).toBe(false);
    cancel();
    controller.abort(new Error("still asleep"));
    await expect(sleeping).rejects.toThrow("still asleep");
  });

  it("does not call back what was cancelled", async () => {
    let fired = false;
    const cancel = systemClock.after(0, () => {
      fired = true;
    });
    cancel();
    await systemClock.sleep(1);
    expect(fired).toBe(false);
  });
});

describe("the clock of tests", () => {
  it("stands still until it is moved, and then runs what is due in order", async () => {
    const clock = fakeClock({ start: 0 });
    const seen: string[] = [];
    clock.after(20, () => seen.push(`second at ${clock.now()}`));
    clock.after(10, () => seen.push(`first at ${clock.now()}`));
    clock.after(30, () => seen.push("third"));
    const cancel = clock.after(5, () => seen.push("cancelled"));
    cancel();
    await clock.advance(25);
    expect(seen).toEqual(["first at 10", "second at 20"]);
    expect(clock.waiting).toBe(1);
    expect(isoTime(clock)).toBe("1970-01-01T00:00:00.025Z");
  });
});
