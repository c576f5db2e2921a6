import { isObject, type Json, type JsonObject } from "@slipway/protocol/schema/json";
import { own } from "../documents/tree.ts";
import { matches } from "./assertions.ts";
import { type Evaluation, joined, type Keyword, type KeywordVisit, nothing, wrong } from "./model.ts";
import { place } from "./place.ts";

/** Keywords about maps. */
export const OBJECTS: Readonly<Record<string, Keyword>> = {
  properties: ofObject((given, map) => {
    const known = mapOf(given.schema.properties);
    return inside(given, map, (key) => own(known, key) as Json | undefined);
  }),
  patternProperties: ofObject((given, map) => {
    const patterns = Object.entries(mapOf(given.schema.patternProperties));
    return joined(
      patterns.map(([pattern, schema]) =>
        inside(given, map, (key) => (matches(pattern, key) === true ? schema : undefined)),
      ),
    );
  }),
  additionalProperties: ofObject((given, map) => {
    const known = mapOf(given.schema.properties);
    const patterns = Object.keys(mapOf(given.schema.patternProperties));
    const isKnown = (key: string) =>
      Object.hasOwn(known, key) || patterns.some((pattern) => matches(pattern, key) === true);
    return others(given, map, isKnown, "additionalProperties", "disallowed additional");
  }),
  unevaluatedProperties: ofObject((given, map, before) =>
    others(
      given,
      map,
      (key) => before.properties.has(key),
      "unevaluatedProperties",
      "disallowed unevaluated",
    ),
  ),
  propertyNames: ofObject((given, map) =>
    onlyProblems(
      Object.keys(map).map((key) =>
        given.visit({
          ...given,
          schema: given.schema.propertyNames ?? true,
          value: key,
          at: [...given.at, key],
        }),
      ),
    ),
  ),
  required: ofObject(({ schema, at }, map) => {
    const names = Array.isArray(schema.required) ? schema.required.map(String) : [];
    const missing = names.filter((name) => !Object.hasOwn(map, name));
    if (missing.length === 0) return nothing();
    return wrong(`object at ${place(at)} is missing required properties: ${missing.join(", ")}`);
  }),
  dependentRequired: ofObject(({ schema, at }, map) => {
    const missing = Object.entries(mapOf(schema.dependentRequired)).flatMap(([key, names]) =>
      Object.hasOwn(map, key) && Array.isArray(names)
        ? names.map(String).filter((name) => !Object.hasOwn(map, name))
        : [],
    );
    if (missing.length === 0) return nothing();
    return wrong(`object at ${place(at)} is missing required properties: ${missing.join(", ")}`);
  }),
  dependentSchemas: ofObject((given, map) =>
    joined(
      Object.entries(mapOf(given.schema.dependentSchemas))
        .filter(([key]) => Object.hasOwn(map, key))
        .map(([, schema]) => given.visit({ ...given, schema })),
    ),
  ),
  minProperties: size("minProperties", "is less than", (count, limit) => count >= limit),
  maxProperties: size("maxProperties", "is greater than", (count, limit) => count <= limit),
};

type OfObject = (given: KeywordVisit, map: JsonObject, before: Evaluation) => Evaluation;

function ofObject(work: OfObject): Keyword {
  return (given, before) =>
    isObject(given.value) ? work(given, given.value as JsonObject, before) : nothing();
}

const mapOf = (value: Json | undefined): JsonObject => (isObject(value) ? (value as JsonObject) : {});

/** Each property that the keyword has a schema for. */
function inside(
  given: KeywordVisit,
  map: JsonObject,
  schemaOf: (key: string) => Json | undefined,
): Evaluation {
  const found = nothing();
  for (const [key, value] of Object.entries(map)) {
    const schema = schemaOf(key);
    if (schema === undefined) continue;
    found.properties.add(key);
    found.problems.push(...given.visit({ ...given, schema, value, at: [...given.at, key] }).problems);
  }
  return found;
}

/** Properties that no other keyword has spoken of. */
function others(
  given: KeywordVisit,
  map: JsonObject,
  isKnown: (key: string) => boolean,
  keyword: string,
  words: string,
): Evaluation {
  const schema = given.schema[keyword] ?? true;
  const left = Object.keys(map).filter((key) => !isKnown(key));
  if (schema !== false) return inside(given, map, (key) => (left.includes(key) ? schema : undefined));
  return wrong(
    ...left.map((key) => `object property at ${place([...given.at, key])} is a ${words} property`),
  );
}

/** Names are no properties that were spoken of. */
const onlyProblems = (all: readonly Evaluation[]): Evaluation =>
  wrong(...all.flatMap(({ problems }) => problems));

function size(name: string, words: string, fits: (count: number, limit: number) => boolean): Keyword {
  return ofObject(({ schema, at }, map) => {
    const limit = schema[name];
    if (typeof limit !== "number" || fits(Object.keys(map).length, limit)) return nothing();
    return wrong(`object size at ${place(at)} ${words}: ${limit}`);
  });
}
