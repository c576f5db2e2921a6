import { DeadlineExceeded } from "@slipway/kernel/deadline";
import { fakeClock } from "@slipway/testkit/fake-clock";
import { describe, expect, it } from "vitest";
import { until } from "./until.ts";

const NEVER = new AbortController().signal;
const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));

describe("until", () => {
  it("returns the result of work that ends in time and leaves no timer", async () => {
    const clock = fakeClock();
    expect(await until("work", 1000, clock, NEVER, async () => "done")).toBe("done");
    expect(clock.waiting).toBe(0);
  });

  it("fails with the error of work that reacts to the deadline", async () => {
    const clock = fakeClock();
    const working = until("work", 1000, clock, NEVER, async (signal) => {
      await aborted(signal);
      await clock.sleep(10);
      throw new Error("held by process 7");
    });
    const failed = expect(working).rejects.toThrow("held by process 7");
    await clock.advance(1010);
    await failed;
    expect(clock.waiting).toBe(0);
  });

  it("stops waiting for work that ignores the deadline, and ignores its late failure", async () => {
    const clock = fakeClock();
    let fail = (_: Error) => {};
    const hung = new Promise<never>((_, reject) => {
      fail = reject;
    });
    const working = until("work", 1000, clock, NEVER, () => hung);
    const failed = expect(working).rejects.toSatisfy(DeadlineExceeded.is);
    await clock.advance(1000 + 5000);
    await failed;
    fail(new Error("too late"));
    await clock.advance(0);
  });

  it("aborts the work when the agent ends", async () => {
    const ending = new AbortController();
    const working = until("work", 1000, fakeClock(), ending.signal, async (signal) => {
      await aborted(signal);
      signal.throwIfAborted();
    });
    ending.abort(new Error("ending"));
    await expect(working).rejects.toThrow("ending");
  });
});
