import { matches } from "@slipway/protocol/schema/check";
import { shapeOf } from "@slipway/protocol/schema/children";
import { isObject } from "@slipway/protocol/schema/json";
import type { Schema } from "@slipway/protocol/schema/marks";

type Shape = ReturnType<typeof shapeOf>;
type Fields = Extract<Shape, { kind: "fields" }>;

/**
 * A value as upstream's decoder would read it for this schema: keys are the schema's whatever their case (the last of
 * several wins), `null` is the empty value of its kind where the schema has no `null`. What the schema does not know
 * stays as it came.
 */
export function normalize(schema: Schema, value: unknown): unknown {
  const shape = shapeOf(schema);
  if (value === null) return acceptsNull(schema, shape) ? null : zeroOf(shape);
  switch (shape.kind) {
    case "maybe":
      return normalize(shape.inner, value);
    case "oneOf":
      return normalizeOneOf(shape.options, value);
    case "list":
      return Array.isArray(value) ? value.map((item) => normalize(shape.item, item)) : value;
    case "tuple":
      return Array.isArray(value)
        ? value.map((item, at) => {
            const part = shape.items[at];
            return part === undefined ? item : normalize(part, item);
          })
        : value;
    case "map":
      return isObject(value)
        ? Object.fromEntries(
            Object.entries(value).map(([key, inner]) => [key, normalize(shape.value, inner)]),
          )
        : value;
    case "fields":
      return isObject(value) ? normalizeFields(shape, value) : value;
    case "words":
    case "leaf":
      return value;
  }
}

/** Reads a value by the first option that matches. A value that matches none is left for the check to refuse. */
function normalizeOneOf(options: readonly Schema[], value: unknown): unknown {
  for (const option of options) {
    const read = normalize(option, value);
    if (matches(option, read)) return read;
  }
  return value;
}

function normalizeFields(shape: Fields, value: object): Record<string, unknown> {
  const known = new Map(Object.keys(shape.fields).map((name) => [name.toLowerCase(), name]));
  const entries = new Map<string, unknown>();
  for (const [key, inner] of Object.entries(value)) {
    const name = known.get(key.toLowerCase());
    if (name === undefined) {
      const rest = typeof shape.rest === "string" ? undefined : shape.rest;
      entries.set(key, rest === undefined ? inner : normalize(rest, inner));
      continue;
    }
    const field = shape.fields[name] as Schema;
    // Left out and null are the same to upstream; where a field may be missing, it then is.
    if (inner === null && mayBeMissing(field) && !acceptsNull(field, shapeOf(field))) entries.delete(name);
    else entries.set(name, normalize(field, inner));
  }
  return Object.fromEntries(entries);
}

function mayBeMissing(schema: Schema): boolean {
  const shape = shapeOf(schema);
  return shape.kind === "maybe" && (shape.missing || mayBeMissing(shape.inner));
}

const acceptsNull = (schema: Schema, shape: Shape): boolean =>
  (shape.kind === "maybe" && shape.null) || matches(schema, null);

/** Returns the value that an unset Go variable of this type holds, with empty maps and lists for nil. */
function zeroOf(shape: Shape): unknown {
  switch (shape.kind) {
    case "fields":
    case "map":
      return {};
    case "list":
    case "tuple":
      return [];
    case "words":
      return zeroLike(shape.words[0]);
    case "maybe":
      return zeroOf(shapeOf(shape.inner));
    case "oneOf": {
      const first = shape.options[0];
      return first === undefined ? null : zeroOf(shapeOf(first));
    }
    case "leaf":
      return LEAF_ZEROS[shape.type] ?? null;
  }
}

const LEAF_ZEROS: Readonly<Record<string, unknown>> = { string: "", number: 0, boolean: false, object: {} };

function zeroLike(word: string | number | boolean | null | undefined): unknown {
  if (typeof word === "number") return 0;
  return typeof word === "boolean" ? false : "";
}
