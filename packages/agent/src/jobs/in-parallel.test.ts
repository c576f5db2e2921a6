import { expect, it } from "vitest";
import { inParallel } from "./in-parallel.ts";

const NEVER = new AbortController().signal;

it("runs so many at once, and all of them", async () => {
  let [running, most, done] = [0, 0, 0];
  const work = async () => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setImmediate(resolve));
    running--;
    done++;
  };
  await inParallel(
    Array.from({ length: 12 }, () => work),
    3,
    NEVER,
  );
  expect([most, done]).toEqual([3, 12]);
});

it("ends the others at the first failure, and throws that one when they have ended", async () => {
  let ended = false;
  const waits = (signal: AbortSignal) =>
    new Promise<void>((_, reject) => {
      signal.addEventListener("abort", () => {
        ended = true;
        reject(new Error("ended"));
      });
    });
  const never = () => Promise.reject(new Error("must not begin"));
  const works = [waits, () => Promise.reject(new Error("the first")), never];
  await expect(inParallel(works, 2, NEVER)).rejects.toThrow("the first");
  expect(ended).toBe(true);
});
