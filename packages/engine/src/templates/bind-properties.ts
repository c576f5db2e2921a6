import { isObject, type Json, type JsonObject } from "@slipway/protocol/schema/json";
import { PropertyNotAHash } from "./errors.ts";

/**
 * Returns the properties that a template may see: only names that the job declares, each with the given value, its default, or
 * null. Hashes are sorted, so that the order in which an operator writes them changes nothing.
 */
export function bindProperties(
  declared: ReadonlyMap<string, Json | undefined>,
  given: JsonObject,
): JsonObject {
  const bound: Record<string, Json> = {};
  for (const [name, standard] of declared)
    put(bound, name.split("."), givenValue(name, given) ?? standard ?? null);
  return sorted(bound) as JsonObject;
}

/** Returns undefined if the property is not set. A null counts as not set. */
function givenValue(name: string, given: JsonObject): Json | undefined {
  let found: Json | undefined = given;
  for (const key of name.split(".")) {
    if (found === undefined || found === null) return undefined;
    if (!isObject(found)) throw PropertyNotAHash({ name, type: rubyClass(found) });
    found = Object.hasOwn(found, key) ? (found as JsonObject)[key] : undefined;
  }
  return found;
}

function put(into: Record<string, Json>, keys: readonly string[], value: Json): void {
  const [key, ...rest] = keys;
  if (key === undefined) return;
  if (rest.length === 0) {
    // A declared hash does not push out what a longer name under it has put there.
    const there = into[key];
    into[key] = isObject(there) && isObject(value) ? { ...value, ...there } : value;
    return;
  }
  const next = isObject(into[key]) ? { ...(into[key] as Record<string, Json>) } : {};
  into[key] = next;
  put(next, rest, value);
}

function sorted(value: Json): Json {
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value as JsonObject)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, one]) => [key, sorted(one)]),
  );
}

/** The words upstream's users know. */
function rubyClass(value: Json): string {
  if (Array.isArray(value)) return "Array";
  if (typeof value === "string") return "String";
  if (typeof value === "number") return Number.isInteger(value) ? "Integer" : "Float";
  return value === true ? "TrueClass" : "FalseClass";
}
