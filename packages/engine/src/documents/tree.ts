import { isObject } from "@slipway/protocol/schema/json";
/** Documents as YAML gives them: maps without a prototype, so that no name is found in them that nobody wrote. */

export type Tree = Record<string, unknown>;

export const newMap = (): Tree => Object.create(null) as Tree;

/** What stands under a key, never what a prototype has. */
export const own = (map: Tree, key: string): unknown => (Object.hasOwn(map, key) ? map[key] : undefined);

export function clone(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(clone);
  if (!isObject(value)) return value;
  const copy = newMap();
  for (const key of Object.keys(value)) copy[key] = clone(value[key]);
  return copy;
}

/** Text that is equal for equal documents, whatever the order of their keys. */
export function fingerprint(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(fingerprint).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? "null";
  const parts = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${fingerprint(value[key])}`);
  return `{${parts.join(",")}}`;
}

/** What kind of thing a value is, in words. Never the value. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return "nothing (null)";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a map";
  if (typeof value === "string") return value === "" ? "an empty string" : "a string";
  if (typeof value === "boolean") return "true or false";
  if (typeof value === "number") return Number.isInteger(value) ? "a whole number" : "a decimal number";
  return `a ${typeof value}`;
}
