const AT_ONCE = 2;

/** Works through the items in order, some at once. */
export async function inParallel<T>(
  items: readonly T[],
  work: (item: T, nth: number) => Promise<void>,
): Promise<void> {
  const queue = items.entries();
  const worker = async () => {
    for (const [nth, item] of queue) await work(item, nth);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
