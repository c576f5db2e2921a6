/**
 * Works on all items, at most `limit` at once. After a failure nothing new is begun; what is under way is waited for, then
 * the first failure is thrown.
 */
export async function inFlight<T>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = [];
  const queue = items.values();
  const worker = async () => {
    for (const item of queue) {
      try {
        await work(item);
      } catch (error) {
        failures.push(error);
      }
      if (failures.length > 0) return;
    }
  };
  const workers = Math.max(1, Math.min(limit, items.length));
  await Promise.all(Array.from({ length: workers }, worker));
  if (failures.length > 0) throw failures[0];
}
