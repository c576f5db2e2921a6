import { isObject } from "@slipway/protocol/schema/json";
import { hasPins, unpinned } from "../documents/pins.ts";

/** Equal as JSON: the order of keys does not matter, and an undefined key is an absent one. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) || Array.isArray(b))
    return (
      Array.isArray(a) &&
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((one, at) => sameJson(one, b[at]))
    );
  if (!isObject(a) || !isObject(b)) return false;
  return keysOf(a, b).every((key) => sameJson(own(a, key), own(b, key)));
}

/** The same was written, whatever versions of variables it meant. */
export const sameBeforePins = (a: unknown, b: unknown): boolean =>
  sameJson(a, b) || (hasPins(a) && hasPins(b) && sameJson(unpinned(a), unpinned(b)));

/** Returns the paths where two values differ, as dotted names. Never includes the values: they may be secret. */
export function differences(a: unknown, b: unknown, depth = 3): readonly string[] {
  if (!isObject(a) || !isObject(b)) return [];
  const found: string[] = [];
  for (const key of keysOf(a, b)) {
    const [left, right] = [own(a, key), own(b, key)];
    if (sameJson(left, right)) continue;
    const deeper = depth > 1 ? differences(left, right, depth - 1) : [];
    if (deeper.length === 0) found.push(key);
    else for (const one of deeper) found.push(`${key}.${one}`);
  }
  return found.sort();
}

const own = (object: Readonly<Record<string, unknown>>, key: string): unknown =>
  Object.hasOwn(object, key) ? object[key] : undefined;

const keysOf = (a: object, b: object): readonly string[] => [
  ...new Set([...Object.keys(a), ...Object.keys(b)]),
];
