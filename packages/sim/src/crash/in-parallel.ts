/** Works through the items in order, each in one of the places. */
export async function inParallel<T, P>(
  places: readonly P[],
  items: readonly T[],
  work: (item: T, place: P) => Promise<void>,
): Promise<void> {
  const queue = items.values();
  const worker = async (place: P) => {
    for (const item of queue) await work(item, place);
  };
  await Promise.all(places.map(worker));
}
