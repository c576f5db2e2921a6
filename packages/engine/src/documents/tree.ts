import { createHash } from "node:crypto";
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

export type Printer = (value: unknown) => string;

/**
 * As `fingerprint`, for who asks for every part of a document: what was printed once is kept, and what is long is
 * printed as its digest. So the whole costs as much as the document is long, however deep it is.
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
