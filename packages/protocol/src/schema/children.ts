import { isAnyJson } from "./json.ts";
import type { Schema } from "./marks.ts";

/**
 * The parts of a schema, by the way a value of it is walked. One reading of the schema library's shapes, shared by
 * redaction, documentation and test generators, so that a new kind of schema is taught in one place.
 */
export type Shape =
  | {
      readonly kind: "fields";
      readonly fields: Readonly<Record<string, Schema>>;
      readonly rest: Schema | "ignored" | "open";
    }
  | { readonly kind: "map"; readonly value: Schema }
  | { readonly kind: "list"; readonly item: Schema }
  | { readonly kind: "tuple"; readonly items: readonly Schema[] }
  | { readonly kind: "oneOf"; readonly options: readonly Schema[] }
  | { readonly kind: "maybe"; readonly inner: Schema; readonly missing: boolean; readonly null: boolean }
  | { readonly kind: "words"; readonly words: readonly (string | number | boolean | null)[] }
  /** `json` for any value, `object` for any object, otherwise the name of a plain type. */
  | { readonly kind: "leaf"; readonly type: string };

interface Loose {
  readonly type: string;
  readonly pipe?: readonly (Loose & { readonly kind: string })[];
  readonly entries?: Readonly<Record<string, Schema>>;
  readonly rest?: Schema;
  readonly value?: Schema;
  readonly item?: Schema;
  readonly items?: readonly Schema[];
  readonly options?: readonly unknown[];
  readonly wrapped?: Schema;
  readonly literal?: string | number | boolean;
  readonly check?: (input: unknown) => boolean;
}

/** The last schema of a pipe says most: `mapOf` guards with one and describes with the next. */
function effective(schema: Schema): Loose {
  const self = schema as unknown as Loose;
  const schemas = (self.pipe ?? []).filter((item) => item.kind === "schema");
  const last = schemas.at(-1);
  return last === undefined || last === self ? self : effective(last as unknown as Schema);
}

/** Every message is walked, and schemas do not change. */
const known = new WeakMap<Schema, Shape>();

export function shapeOf(schema: Schema): Shape {
  const before = known.get(schema);
  if (before !== undefined) return before;
  const shape = readShape(schema);
  known.set(schema, shape);
  return shape;
}

function readShape(schema: Schema): Shape {
  const s = effective(schema);
  switch (s.type) {
    case "object":
    case "strict_object":
      return { kind: "fields", fields: s.entries ?? {}, rest: "ignored" };
    case "loose_object":
      return { kind: "fields", fields: s.entries ?? {}, rest: "open" };
    case "object_with_rest":
      return { kind: "fields", fields: s.entries ?? {}, rest: s.rest ?? "open" };
    case "record":
      return { kind: "map", value: s.value as Schema };
    case "array":
      return { kind: "list", item: s.item as Schema };
    case "tuple":
    case "strict_tuple":
    case "loose_tuple":
      return { kind: "tuple", items: s.items ?? [] };
    case "union":
      return { kind: "oneOf", options: s.options as readonly Schema[] };
    case "optional":
    case "nullable":
    case "nullish":
      return {
        kind: "maybe",
        inner: s.wrapped as Schema,
        missing: s.type !== "nullable",
        null: s.type !== "optional",
      };
    case "literal":
      return { kind: "words", words: [s.literal as string] };
    case "picklist":
      return { kind: "words", words: s.options as readonly string[] };
    case "custom":
      return { kind: "leaf", type: s.check === isAnyJson ? "json" : "object" };
    case "variant":
    case "intersect":
    case "lazy":
    case "map":
    case "set":
      // As a leaf it would be shown whole, with the secrets in it.
      throw new Error(`bug: nobody taught shapeOf the parts of a ${s.type}`);
    default:
      return { kind: "leaf", type: s.type };
  }
}
