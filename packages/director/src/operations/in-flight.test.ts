import { describe, expect, it } from "vitest";
import { inFlight } from "./in-flight.ts";

/** Work that waits to be ended by hand. */
function bench() {
  const begun: number[] = [];
  const ends = new Map<number, (error?: Error) => void>();
  let most = 0;
  const work = (item: number) =>
    new Promise<void>((resolve, reject) => {
      begun.push(item);
      ends.set(item, (error) => {
        ends.delete(item);
        if (error === undefined) resolve();
        else reject(error);
      });
      most = Math.max(most, ends.size);
    });
  return { begun, work, end: (item: number, error?: Error) => ends.get(item)?.(error), most: () => most };
}

describe("work on several things", () => {
  it("is begun in order, at most so many at once", async () => {
    const { begun, work, end, most } = bench();
    const all = inFlight([1, 2, 3, 4, 5], 2, work);
    for (const item of [2, 1, 3, 5, 4]) {
      await expect.poll(() => begun.includes(item)).toBe(true);
      end(item);
    }
    await all;
    expect([begun, most()]).toEqual([[1, 2, 3, 4, 5], 2]);
  });

  it("begins nothing new after a failure, waits for what is under way, and tells the first failure", async () => {
    const { begun, work, end } = bench();
    let over = false;
    const all = inFlight([1, 2, 3], 2, work).finally(() => {
      over = true;
    });
    all.catch(() => undefined);
    end(1, new Error("first"));
    await Promise.resolve();
    expect(over).toBe(false);
    end(2, new Error("second"));
    await expect(all).rejects.toThrow("first");
    expect(begun).toEqual([1, 2]);
  });

  it("ends at once if there is nothing to do, whatever the limit", async () => {
    await expect(inFlight([], 0, () => Promise.reject(new Error("never")))).resolves.toBeUndefined();
  });
});
