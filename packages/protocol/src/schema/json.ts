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

const ENCODER = new TextEncoder();
const UNSTORABLE = /[\0\ud800-\udfff]/u;

/** Text that a database keeps and its indexes take: `most` bytes at most, without NUL and half characters. */
export const keyText = (what: string, most = 255) =>
  v.pipe(
    text(what),
    v.check(
      (value) => value.length <= most && !UNSTORABLE.test(value) && ENCODER.encode(value).length <= most,
      `${what} must have at most ${most} bytes, and neither NUL nor half a character`,
    ),
  );

/** `.` and `..` cannot be named in a path, `__proto__` cannot be the key of a plain object. */
export const isUnusableName = (name: string): boolean => /^(?:\.{1,2}|__proto__)$/.test(name);

/** The name of what becomes part of paths and addresses. */
export const identifier = (what: string, most = 200) =>
  v.pipe(
    v.string(),
    v.check(
      (name) => name.length <= most && /^[-0-9A-Za-z_+.]+$/.test(name),
      `${what} may hold letters, digits and - _ + . only, at most ${most}`,
    ),
    v.check((name) => !isUnusableName(name), `${what} must not be '.', '..' or '__proto__'`),
  );

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
