import { shapeOf } from "./children.ts";
import { docOf, type Mark, markOf, type Schema } from "./marks.ts";

const LEAVES: Readonly<Record<string, string>> = {
  string: "string",
  number: "number",
  boolean: "boolean",
  object: "object",
  json: "any",
  unknown: "any",
};

/** A schema as a short type for a documentation table. Objects are named by their keys. */
export function typeText(schema: Schema, depth = 1): string {
  const shape = shapeOf(schema);
  switch (shape.kind) {
    case "maybe":
      return shape.null ? `${typeText(shape.inner, depth)} or null` : typeText(shape.inner, depth);
    case "oneOf":
      return [...new Set(shape.options.map((option) => typeText(option, depth)))].join(" or ");
    case "words":
      return shape.words.map((word) => JSON.stringify(word)).join(" or ");
    case "list":
      return `array of ${typeText(shape.item, depth)}`;
    case "tuple":
      return `[${shape.items.map((item) => typeText(item, 0)).join(", ")}]`;
    case "map":
      return depth === 0 ? "object" : `map of ${typeText(shape.value, 0)}`;
    case "fields": {
      const names = Object.keys(shape.fields);
      if (depth === 0 || names.length === 0 || names.length > 4) return "object";
      return `{${names.join(", ")}}`;
    }
    case "leaf":
      return LEAVES[shape.type] ?? shape.type;
  }
}

export interface FieldDoc {
  readonly path: string;
  readonly type: string;
  readonly required: boolean;
  readonly shown: "shown" | "hidden" | "secret";
  readonly doc: string;
}

/** Every field of a document schema, one row each, parents before children. */
export function fieldDocs(schema: Schema, prefix = ""): FieldDoc[] {
  const shape = shapeOf(schema);
  if (shape.kind === "maybe") return fieldDocs(shape.inner, prefix);
  if (shape.kind === "list") return fieldDocs(shape.item, `${prefix}[]`);
  if (shape.kind === "map") return fieldDocs(shape.value, `${prefix}.*`);
  if (shape.kind !== "fields") return [];
  return Object.entries(shape.fields).flatMap(([key, field]) => {
    const path = prefix === "" ? key : `${prefix}.${key}`;
    const layers = layersOf(field);
    const inner = layers.at(-1) ?? field;
    const row: FieldDoc = {
      path,
      type: typeText(inner),
      required: !layers.map(shapeOf).some((layer) => layer.kind === "maybe" && layer.missing),
      shown: firstOf(layers, markOf) ?? itemMark(inner) ?? "shown",
      doc: firstOf(layers, docOf) ?? "",
    };
    return [row, ...fieldDocs(inner, path)];
  });
}

/** An optional or nullable schema and those inside it, down to the one that describes the value. */
function layersOf(schema: Schema): readonly Schema[] {
  const shape = shapeOf(schema);
  return shape.kind === "maybe" ? [schema, ...layersOf(shape.inner)] : [schema];
}

function firstOf<T>(layers: readonly Schema[], read: (schema: Schema) => T | undefined): T | undefined {
  return layers.map(read).find((found) => found !== undefined);
}

/** A list is as secret as its items. */
function itemMark(schema: Schema): Mark | undefined {
  const shape = shapeOf(schema);
  return shape.kind === "list" ? markOf(shape.item) : undefined;
}
