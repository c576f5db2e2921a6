import { createHash } from "node:crypto";
import { isObject } from "@slipway/protocol/schema/json";

/** Documents as YAML gives them: maps without a prototype, so that only keys of the document are found. */

export type Tree = Record<string, unknown>;

export const newMap = (): Tree => Object.create(null) as Tree;

/** Returns the value of a map's own key, never of its prototype. */
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

export type Printer = (value: unknown) => string;

/**
 * Works as `fingerprint` for callers that ask for every part of a document: it caches its results, and prints long ones as
 * digests. So the total cost grows with the length of the document, not with its depth.
 */
export function printer(): Printer {
  const kept = new WeakMap<object, string>();
  const short = (text: string) =>
    text.length <= 64 ? text : `#${createHash("sha256").update(text).digest("base64")}`;
  const print = (value: unknown): string => {
    if (typeof value !== "object" || value === null) return short(JSON.stringify(value) ?? "null");
    const before = kept.get(value);
    if (before !== undefined) return before;
    const parts = Array.isArray(value)
      ? `[${value.map(print).join(",")}]`
      : `{${Object.keys(value)
          .sort()
          .map((key) => `${JSON.stringify(key)}:${print((value as Tree)[key])}`)
          .join(",")}}`;
    const text = short(parts);
    kept.set(value, text);
    return text;
  };
  return print;
}

/** Describes the type of a value in words. Never includes the value. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return "nothing (null)";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a map";
  if (typeof value === "string") return value === "" ? "an empty string" : "a string";
  if (typeof value === "boolean") return "true or false";
  if (typeof value === "number") return Number.isInteger(value) ? "a whole number" : "a decimal number";
  return `a ${typeof value}`;
}
