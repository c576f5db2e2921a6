/** Things by what they have in common, in their order. */
export function groupBy<K, T>(things: readonly T[], keyOf: (thing: T) => K): ReadonlyMap<K, readonly T[]> {
  const groups = new Map<K, T[]>();
  for (const thing of things) {
    const key = keyOf(thing);
    const there = groups.get(key);
    if (there === undefined) groups.set(key, [thing]);
    else there.push(thing);
  }
  return groups;
}
