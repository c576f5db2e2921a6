import { isObject, type Json, type JsonObject } from "@slipway/protocol/schema/json";
import { ARRAYS } from "./arrays.ts";
import { ASSERTIONS } from "./assertions.ts";
import { COMBINATIONS } from "./combinations.ts";
import { type Evaluation, type Keyword, nothing, type Visit } from "./model.ts";
import { OBJECTS } from "./objects.ts";
import { place } from "./place.ts";
import { resolveReference } from "./references.ts";

/** Keywords by name. The `unevaluated` ones depend on the results of all others, so they come last. */
const KEYWORDS: ReadonlyMap<string, Keyword> = new Map(
  Object.entries({ ...ASSERTIONS, ...COMBINATIONS, ...OBJECTS, ...ARRAYS, $ref, $dynamicRef: $ref }),
);
const LAST = ["unevaluatedProperties", "unevaluatedItems"];

/** Limit for schemas that refer to themselves. No real value is as deep. */
const DEEPEST = 500;

/** Validates a value with JSON Schema 2020-12. Returns the problems in the words of upstream's validator, without values. */
export function schemaProblems(schema: Json, value: Json): readonly string[] {
  return visit({ root: schema, schema, value, at: [], depth: 0, visit }).problems;
}

function visit(given: Visit): Evaluation {
  const { schema, value, at, depth } = given;
  if (schema === true) return nothing();
  if (!isObject(schema)) return { ...nothing(), problems: [`value at ${place(at)} does not match schema`] };
  if (depth > DEEPEST) return { ...nothing(), problems: [`value at ${place(at)} is nested too deeply`] };
  const found: Evaluation = { problems: [], properties: new Set(), items: new Set() };
  const names = Object.keys(schema).filter((name) => !LAST.includes(name));
  for (const name of [...names, ...LAST.filter((one) => Object.hasOwn(schema, one))]) {
    const keyword = KEYWORDS.get(name);
    // Anything else is a remark.
    if (keyword === undefined) continue;
    const one = keyword({ ...given, schema: schema as JsonObject, depth: depth + 1, value }, found);
    found.problems.push(...one.problems);
    for (const key of one.properties) found.properties.add(key);
    for (const index of one.items) found.items.add(index);
  }
  return found;
}

function $ref({ schema, ...given }: Parameters<Keyword>[0]): Evaluation {
  const written = String(schema.$ref ?? schema.$dynamicRef);
  const target = resolveReference(written, given.root);
  if (target !== undefined) return given.visit({ ...given, schema: target });
  return { ...nothing(), problems: [`the schema speaks of '${written}', which is not in it`] };
}
