import { fakeClock } from "@slipway/testkit/fake-clock";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Backoff, delayBefore, retry } from "./backoff.ts";
import { systemRandom } from "./random.ts";

const backoff: Backoff = { tries: 4, firstDelayMs: 100, longestDelayMs: 300 };
const random = (fraction: number) => ({ ...systemRandom, fraction: () => fraction });

describe("the delay before the next try", () => {
  it("doubles up to the longest, and chance takes at most half of it away", () => {
    expect([1, 2, 3, 4].map((attempt) => delayBefore(attempt, backoff, random(0)))).toEqual([
      50, 100, 150, 150,
    ]);
    expect([1, 2, 3].map((attempt) => delayBefore(attempt, backoff, random(0.5)))).toEqual([75, 150, 225]);
  });

  it("is never longer than the longest nor shorter than half of the first, at any attempt", () => {
    const fraction = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5000 }), fraction, (attempt, chance) => {
        const delay = delayBefore(attempt, backoff, random(chance));
        expect(delay).toBeGreaterThanOrEqual(50);
        expect(delay).toBeLessThanOrEqual(300);
      }),
    );
  });
});

describe("retry", () => {
  /** Work that fails with each of these in turn and then succeeds. */
  const failing = (...errors: readonly string[]) => {
    const attempts: number[] = [];
    const work = async (attempt: number) => {
      attempts.push(attempt);
      const message = errors[attempt - 1];
      if (message !== undefined) throw new Error(message);
      return "done";
    };
    return { attempts, work };
  };
  const tools = () => ({ clock: fakeClock({ hurry: true }), random: random(0) });

  it("returns the first success and does not wait for it", async () => {
    const { attempts, work } = failing();
    const given = tools();
    expect(await retry(work, () => true, backoff, given)).toBe("done");
    expect(attempts).toEqual([1]);
    expect(given.clock.slept).toEqual([]);
  });

  it("waits longer each time, and gives the number of the attempt to the work", async () => {
    const { attempts, work } = failing("a", "b", "c");
    const given = tools();
    expect(await retry(work, () => true, backoff, given)).toBe("done");
    expect(attempts).toEqual([1, 2, 3, 4]);
    expect(given.clock.slept).toEqual([50, 100, 150]);
  });

  it("throws the last error once the tries are used up, without waiting after it", async () => {
    const { attempts, work } = failing("a", "b", "c", "d", "e");
    const given = tools();
    await expect(retry(work, () => true, backoff, given)).rejects.toThrow("d");
    expect(attempts).toEqual([1, 2, 3, 4]);
    expect(given.clock.slept).toHaveLength(3);
  });

  it("throws at once what is not worth another try", async () => {
    const { attempts, work } = failing("passing", "final", "never seen");
    const again = (error: unknown) => error instanceof Error && error.message === "passing";
    await expect(retry(work, again, backoff, tools())).rejects.toThrow("final");
    expect(attempts).toEqual([1, 2]);
  });

  it("does not try again once it is called off", async () => {
    const { attempts, work } = failing("a", "b");
    const signal = AbortSignal.abort(new Error("called off"));
    await expect(retry(work, () => true, backoff, { ...tools(), signal })).rejects.toThrow("a");
    expect(attempts).toEqual([1]);
  });

  it("called off while it waits, ends with the reason and leaves no timer", async () => {
    const { attempts, work } = failing("a", "b");
    const clock = fakeClock();
    const controller = new AbortController();
    const running = retry(work, () => true, backoff, { clock, random: random(0), signal: controller.signal });
    const ended = expect(running).rejects.toThrow("called off");
    await clock.advance(49);
    expect(clock.waiting).toBe(1);
    controller.abort(new Error("called off"));
    await ended;
    expect(attempts).toEqual([1]);
    expect(clock.waiting).toBe(0);
  });
});
