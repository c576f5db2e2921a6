import { fakeClock } from "@slipway/testkit/fake-clock";
import { describe, expect, it } from "vitest";
import { preload } from "./director.ts";

describe("a module that is loaded early", () => {
  it("is loaded by itself, and once", async () => {
    const clock = fakeClock();
    let loads = 0;
    const get = preload(clock, async () => {
      loads += 1;
      return "loaded";
    });
    expect(loads).toBe(0);
    await clock.advance(1000);
    expect(loads).toBe(1);
    expect([await get(), await get(), loads]).toEqual(["loaded", "loaded", 1]);
  });

  it("does not delay a caller who asks sooner", async () => {
    const get = preload(fakeClock(), () => Promise.resolve("loaded"));
    expect(await get()).toBe("loaded");
  });

  it("fails for its caller, not before", async () => {
    const clock = fakeClock();
    const get = preload(clock, () => Promise.reject(new Error("broken")));
    await clock.advance(1000);
    await expect(get()).rejects.toThrow("broken");
  });
});
