import { createHash } from "node:crypto";

/** The numbers from 0 to n - 1 in an order that the seed decides. */
export function seededOrder(seed: string, n: number): readonly number[] {
  const key = (at: number) => createHash("sha256").update(`${seed} ${at}`).digest("hex");
  return Array.from({ length: n }, (_, at) => ({ at, key: key(at) }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ at }) => at);
}
