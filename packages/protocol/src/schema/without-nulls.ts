import type * as v from "valibot";
import { type Checked, check } from "./check.ts";
import { isObject } from "./json.ts";
import type { Schema } from "./marks.ts";

/** Checks a document in which null means that a field is missing, and hands it back without its nulls. */
export const checkWithoutNulls = <const S extends Schema>(
  schema: S,
  value: unknown,
  root = "",
): Checked<v.InferOutput<S>> => check(schema, withoutNulls(value), root);

/**
 * Leaves out what is null: fields of objects and elements of lists, at every depth, and what holds nothing but nulls.
 * Decoders in Go take null for a missing field, so CPIs in Go write it freely. A value without nulls is handed back
 * itself.
 */
export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) {
    const kept = value.filter((item) => !isNothing(item)).map(withoutNulls);
    return kept.length === value.length && kept.every((item, i) => item === value[i]) ? value : kept;
  }
  if (!isObject(value)) return value;
  const all = Object.entries(value);
  const kept = all
    .filter(([, item]) => !isNothing(item))
    .map(([key, item]) => [key, withoutNulls(item)] as const);
  const same = kept.length === all.length && kept.every(([, item], i) => item === all[i]?.[1]);
  return same ? value : Object.fromEntries(kept);
}

/** Null, or an object in which every field is nothing. An empty object says something: a map without entries. */
function isNothing(value: unknown): boolean {
  if (value === null) return true;
  if (!isObject(value)) return false;
  const fields = Object.values(value);
  return fields.length > 0 && fields.every(isNothing);
}
