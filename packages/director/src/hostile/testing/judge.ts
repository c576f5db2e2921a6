import { systemClock } from "@slipway/kernel/clock";
import { tellTried } from "@slipway/testkit/hostile-count";
import { fractionsOf } from "@slipway/testkit/sample";
import { expect } from "vitest";
import type { Sent, Target } from "./target.ts";

/** Inputs that the running family has tried. */
let tried = 0;

/** `SLIPWAY_HOSTILE` says how many random inputs a family gets. */
export const COUNT = Number(process.env.SLIPWAY_HOSTILE ?? 300);

export const pick = <T>(from: readonly T[], fraction: number): T => {
  const found = from[Math.floor(fraction * from.length)];
  if (found === undefined) throw new Error("nothing to choose from");
  return found;
};

export type Dice = () => number;
export const dice = (family: string): Dice => fractionsOf(`hostile ${family}`);

/** Sends one input and checks what the Director owes all callers: no failure of its own, and life. */
export async function attack(target: Target, sent: Sent): Promise<number> {
  tried += 1;
  const told = await target.send(sent);
  const what = `${sent.method} ${JSON.stringify(sent.path.slice(0, 200))} ${String(sent.body ?? "").slice(0, 300)}`;
  expect(target.alive(), `the Director ended after ${what}: ${target.log().slice(-500)}`).toBe(true);
  expect(told.status, `${what}: ${told.body.slice(0, 200)} ${target.log().slice(-500)}`).toBeLessThan(500);
  // Who is not answered at all was cut off alone: others are served.
  if (told.status === 0) expect((await target.send(INFO)).status, `nobody is served after ${what}`).toBe(200);
  return told.status;
}

const INFO: Sent = { method: "GET", path: "/info" };

/** Time that `/info` may take, also while the Director has costly work to do. */
export const SOON_MS = 100;

/** Returns the waits of requests that were made one after the other while something costly ran, the quickest first. */
export async function answeredMeanwhile(
  target: Target,
  work: Promise<unknown>,
  inBetween: () => Promise<unknown> = async () => undefined,
): Promise<readonly number[]> {
  let open = true;
  const done = work.finally(() => {
    open = false;
  });
  const waits: number[] = [];
  while (open) {
    const since = systemClock.monotonic();
    const { status } = await target.send(INFO);
    waits.push(systemClock.monotonic() - since);
    expect(status).toBe(200);
    await inBetween();
  }
  await done;
  return waits.sort((a, b) => a - b);
}

/** Returns the longest wait of the given share of requests. */
export const share = (sorted: readonly number[], part: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;

export function report(family: string): void {
  tellTried(family, tried);
  tried = 0;
}
