import * as v from "valibot";

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

/** A map of names to values: neither null nor a list. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Keys that a careless copy would turn into a prototype. The schema library skips them, so maps refuse them. */
const TRAPS = ["__proto__", "constructor", "prototype"];
const hasNoTraps = (value: unknown) => isObject(value) && !TRAPS.some((key) => Object.hasOwn(value, key));

/** Any JSON object, passed through untouched. */
export const jsonObject = () => v.custom<JsonObject>(isObject, "expected an object");

/** The one test of `json`, by which the walker of schemas tells it from other custom ones. */
export const isAnyJson = (value: unknown): boolean => value !== undefined;

/** Any JSON value. */
export const json = () => v.custom<unknown>(isAnyJson, "expected a JSON value");

/** A map from names to values of one schema. */
export const mapOf = <const S extends v.GenericSchema>(value: S) =>
  v.pipe(
    v.custom<Record<string, v.InferInput<S>>>(isObject, "expected an object"),
    v.custom<Record<string, v.InferInput<S>>>(hasNoTraps, `must not use the names ${TRAPS.join(", ")}`),
    v.record(v.string(), value),
  );

/** A string with at least one visible character. */
export const text = (what = "it") => v.pipe(v.string(), v.regex(/\S/, `${what} must not be empty`));

export const integer = (least: number, what = "it") =>
  v.pipe(
    v.number(),
    v.check(
      (n) => Number.isSafeInteger(n) && n >= least,
      `${what} must be a whole number of at least ${least}`,
    ),
  );

type Entries = v.ObjectEntries;

/**
 * An object with these fields; others are let through unread. The guard in front is there because the schema library
 * takes an array for an object; the types leave it out, they would only grow by it.
 */
export const open = <const E extends Entries>(entries: E) =>
  guarded(v.looseObject(entries)) as unknown as v.LooseObjectSchema<E, undefined>;

/** An object with these fields, and a schema for all others. */
export const openWith = <const E extends Entries, const R extends v.GenericSchema>(entries: E, rest: R) =>
  guarded(v.objectWithRest(entries, rest)) as unknown as v.ObjectWithRestSchema<E, R, undefined>;

const guarded = (schema: v.GenericSchema) =>
  v.pipe(v.custom<unknown>(isObject, "expected an object"), schema);
