/** Runs work one after the other per key, whatever becomes of the one before. */
export function keyedLock(): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const tails = new Map<string, Promise<unknown>>();
  return (key, work) => {
    const result = (tails.get(key) ?? Promise.resolve()).then(work, work);
    tails.set(
      key,
      result.catch(() => undefined),
    );
    return result;
  };
}
