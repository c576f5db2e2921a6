import { createHash } from "node:crypto";
import type { Clock } from "@slipway/kernel/clock";

/** The numbers from 0 to n - 1 in an order that the seed decides. */
export function seededOrder(seed: string, n: number): readonly number[] {
  const key = (at: number) => createHash("sha256").update(`${seed} ${at}`).digest("hex");
  return Array.from({ length: n }, (_, at) => ({ at, key: key(at) }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ at }) => at);
}

const SHORT_MS = 3;
/** Longer than the Director waits before it writes what tasks have said. */
const LONG_MS = 130;

/** Pauses as on a machine that has something else to do now and then. */
export function unevenPauses(seed: string, clock: Pick<Clock, "sleep">): () => Promise<void> {
  let nth = 0;
  return async () => {
    const [first = 0, second = 0] = createHash("sha256").update(`${seed} ${nth++}`).digest();
    await clock.sleep(first < 8 ? LONG_MS : second % SHORT_MS);
  };
}
