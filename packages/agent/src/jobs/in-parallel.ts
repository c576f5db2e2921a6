/** Runs all of it, so many at a time. The first failure ends the others, and is thrown when they have ended. */
export async function inParallel(
  works: readonly ((signal: AbortSignal) => Promise<void>)[],
  atOnce: number,
  outer: AbortSignal,
): Promise<void> {
  const others = new AbortController();
  const signal = AbortSignal.any([outer, others.signal]);
  let next = 0;
  let failed: { readonly error: unknown } | undefined;
  const worker = async () => {
    for (let at = next++; at < works.length && !signal.aborted; at = next++) {
      try {
        await works[at]?.(signal);
      } catch (error) {
        failed ??= { error };
        others.abort(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, atOnce) }, worker));
  outer.throwIfAborted();
  if (failed !== undefined) throw failed.error;
}
