/**
 * Works on all items, at most `limit` at once, each once it is ready: others that are worked on make it so. After a failure
 * nothing new is begun; what is under way is waited for, then the first failure is thrown.
 */
export async function inOrderOfNeed<T>(
  items: readonly T[],
  limit: number,
  ready: (item: T) => boolean,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const waiting = [...items];
  const failures: unknown[] = [];
  const running = new Set<Promise<void>>();
  const begin = () => {
    while (failures.length === 0 && running.size < Math.max(1, limit)) {
      const at = waiting.findIndex(ready);
      const [item] = at === -1 ? [] : waiting.splice(at, 1);
      if (item === undefined) return;
      const one = work(item)
        .catch((error: unknown) => void failures.push(error))
        .finally(() => running.delete(one));
      running.add(one);
    }
  };
  for (begin(); running.size > 0; begin()) await Promise.race(running);
  if (failures.length > 0) throw failures[0];
  if (waiting.length > 0) throw new Error("bug: what is left waits for what nobody works on");
}
