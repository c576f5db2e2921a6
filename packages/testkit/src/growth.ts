const TIMES = 4;
const ROUNDS = 3;
const MOST_ROUNDS = 20;

/**
 * How many times more processor time the work takes for four times as much of it: about 4 when it grows as its input
 * does, 16 when it grows with the square. The same on a slow or busy machine as on a quick one.
 */
export async function growth(work: (size: number) => unknown): Promise<number> {
  const costs = new Map<number, number>();
  const ratio = () => (costs.get(TIMES) ?? 0) / (costs.get(1) ?? 0);
  // The least of many rounds is what the work costs; a few rounds may all be disturbed when it is short.
  for (let round = 0; round < ROUNDS || (round < MOST_ROUNDS && ratio() >= EVEN_GROWTH); round += 1) {
    for (const size of [1, TIMES]) {
      const cost = await costOf(() => work(size));
      costs.set(size, Math.min(cost, costs.get(size) ?? Number.POSITIVE_INFINITY));
    }
  }
  return ratio();
}

/** Well above what grows evenly, well below what grows with the square. */
export const EVEN_GROWTH = 9;

async function costOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}
