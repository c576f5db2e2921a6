import type * as v from "valibot";
import { check, kindOf } from "./check.ts";
import { shapeOf } from "./children.ts";
import type { Schema } from "./marks.ts";

/**
 * One schema serves both sides of an API. Its readers take whatever fits: fields that are `nullish` may be null or
 * missing, and unknown ones are let through. Who answers by it is held to more: every `nullish` field is there, null at
 * least, `optional` ones may be left out, and nothing is said that the schema does not name.
 */
export type ReplyOf<S extends Schema> = Exact<v.InferInput<S>>;

type Exact<T> = T extends readonly (infer I)[]
  ? number extends T["length"]
    ? readonly Exact<I>[]
    : Readonly<T>
  : T extends object
    ? Named<T> extends Record<string, never>
      ? Readonly<T>
      : { readonly [K in keyof Given<T>]: Exact<Given<T>[K]> }
    : T;

/** Without the keys that a schema lets through unread. */
type Named<T> = { [K in keyof T as string extends K ? never : number extends K ? never : K]: T[K] };
type Nullish<T> = undefined extends T ? (null extends T ? true : false) : false;
type Given<T> = { [K in keyof Named<T> as true extends Nullish<Named<T>[K]> ? never : K]: Named<T>[K] } & {
  [K in keyof Named<T> as true extends Nullish<Named<T>[K]> ? K : never]-?: Exclude<Named<T>[K], undefined>;
};

/** Lists what a document that we send lacks or has beyond its schema. For tests: readers never require that much. */
export function replyProblems(schema: Schema, value: unknown, root = "answer"): readonly string[] {
  const checked = check(schema, value, root);
  return checked.ok ? deviations(schema, value, root) : checked.problems;
}

function deviations(schema: Schema, value: unknown, at: string): readonly string[] {
  const shape = shapeOf(schema);
  if (shape.kind === "maybe")
    return value === null || value === undefined ? [] : deviations(shape.inner, value, at);
  if (shape.kind === "list" && Array.isArray(value))
    return value.flatMap((item, index) => deviations(shape.item, item, `${at}[${index}]`));
  if (shape.kind === "oneOf") {
    const fitting = shape.options.filter((option) => check(option, value).ok);
    const found = fitting.map((option) => deviations(option, value, at));
    return found.find((one) => one.length === 0) ?? found[0] ?? [];
  }
  if (typeof value !== "object" || value === null) return [];
  if (shape.kind === "map")
    return Object.entries(value).flatMap(([key, inner]) => deviations(shape.value, inner, `${at}.${key}`));
  if (shape.kind !== "fields") return [];
  const given = new Map<string, unknown>(Object.entries(value));
  const unknown = [...given.keys()].filter((key) => !Object.hasOwn(shape.fields, key));
  return [
    ...unknown.map((key) => `${at}.${key}: its schema does not name it (${kindOf(given.get(key))})`),
    ...Object.entries(shape.fields).flatMap(([key, field]) => {
      if (given.has(key)) return deviations(field, given.get(key), `${at}.${key}`);
      const inner = shapeOf(field);
      return inner.kind === "maybe" && inner.null ? [`${at}.${key}: it is left out, say null`] : [];
    }),
  ];
}
