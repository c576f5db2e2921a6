import { fakeClock } from "@slipway/testkit/fake-clock";
import { describe, expect, it } from "vitest";
import { DeadlineExceeded, withDeadline } from "./deadline.ts";
import { messageTrail } from "./errors.ts";

const forever = () => new Promise<never>(() => {});

describe("work with a deadline", () => {
  it("returns the value of work that finishes in time, and removes the timer", async () => {
    const clock = fakeClock();
    const value = await withDeadline("create_vm", 1000, clock, undefined, async (signal) => {
      expect(clock.waiting).toBe(1);
      expect(signal.aborted).toBe(false);
      return 42;
    });
    expect(value).toBe(42);
    expect(clock.waiting).toBe(0);
  });

  it("passes on the error of work that fails in time, and removes the timer", async () => {
    const clock = fakeClock();
    const failing = withDeadline("create_vm", 1000, clock, undefined, () =>
      Promise.reject(new Error("quota")),
    );
    await expect(failing).rejects.toThrow("quota");
    expect(clock.waiting).toBe(0);
  });

  it("passes on the error of work that throws before it returns a promise", async () => {
    const clock = fakeClock();
    const failing = withDeadline("create_vm", 1000, clock, undefined, () => {
      throw new Error("at once");
    });
    await expect(failing).rejects.toThrow("at once");
    expect(clock.waiting).toBe(0);
  });

  it("gives up work that never settles when the time is over, not before", async () => {
    const clock = fakeClock();
    let seen: AbortSignal | undefined;
    let outcome: unknown;
    const running = withDeadline("create_vm", 90_000, clock, undefined, (signal) => {
      seen = signal;
      return forever();
    }).catch((error: unknown) => {
      outcome = error;
    });
    await clock.advance(89_999);
    expect(outcome).toBeUndefined();
    await clock.advance(1);
    await running;
    expect(DeadlineExceeded.is(outcome)).toBe(true);
    expect(messageTrail(outcome)).toBe("create_vm did not finish within 90 s");
    expect(seen?.aborted).toBe(true);
    expect(seen?.reason).toBe(outcome);
    expect(clock.waiting).toBe(0);
  });

  it("ignores a failure of work that was given up", async () => {
    const clock = fakeClock();
    let fail: (error: Error) => void = () => {};
    const running = withDeadline("create_vm", 10, clock, undefined, () => {
      return new Promise<never>((_, reject) => {
        fail = reject;
      });
    });
    const ended = expect(running).rejects.toThrow("did not finish");
    await clock.advance(10);
    await ended;
    fail(new Error("too late"));
    await clock.advance(1);
  });

  it("is cut off by the outer signal with its reason, and lets go of that signal", async () => {
    const clock = fakeClock();
    const outer = new AbortController();
    const running = withDeadline("create_vm", 1000, clock, outer.signal, forever);
    const ended = expect(running).rejects.toThrow("task cancelled");
    outer.abort(new Error("task cancelled"));
    await ended;
    expect(clock.waiting).toBe(0);
  });

  it("does not wait when the outer signal was given before", async () => {
    const clock = fakeClock();
    const outer = AbortSignal.abort(new Error("already over"));
    let told: AbortSignal | undefined;
    const running = withDeadline("create_vm", 1000, clock, outer, (signal) => {
      told = signal;
      return forever();
    });
    await expect(running).rejects.toThrow("already over");
    expect(told?.aborted).toBe(true);
    expect(clock.waiting).toBe(0);
  });

  it("ignores an outer signal that comes after the work is done", async () => {
    const clock = fakeClock();
    const outer = new AbortController();
    let told: AbortSignal | undefined;
    await withDeadline("create_vm", 1000, clock, outer.signal, async (signal) => {
      told = signal;
    });
    outer.abort();
    await clock.advance(2000);
    expect(told?.aborted).toBe(false);
  });
});
