import type { Json } from "@slipway/protocol/schema/json";
import { type Evaluation, type Keyword, type KeywordVisit, nothing, wrong } from "./model.ts";
import { place } from "./place.ts";

/** Keywords about lists. */
export const ARRAYS: Readonly<Record<string, Keyword>> = {
  prefixItems: ofArray((given, list) => {
    const schemas = listOf(given.schema.prefixItems);
    return inside(given, list, (index) => schemas[index]);
  }),
  items: ofArray((given, list) => {
    const before = listOf(given.schema.prefixItems).length;
    return inside(given, list, (index) => (index < before ? undefined : given.schema.items));
  }),
  unevaluatedItems: ofArray((given, list, before) => {
    const { unevaluatedItems: schema } = given.schema;
    const left = list.flatMap((_, index) => (before.items.has(index) ? [] : [index]));
    if (schema !== false) return inside(given, list, (index) => (left.includes(index) ? schema : undefined));
    return wrong(
      ...left.map((index) => `array item at ${place([...given.at, index])} is a disallowed unevaluated item`),
    );
  }),
  contains: ofArray((given, list) => {
    const { contains = true, minContains = 1, maxContains } = given.schema;
    const fit = list.flatMap((value, index) => {
      const at = [...given.at, index];
      return given.visit({ ...given, schema: contains, value, at }).problems.length === 0 ? [index] : [];
    });
    const problems = [
      ...(fit.length < Number(minContains)
        ? [`array at ${place(given.at)} does not contain enough items that match \`contains\` schema`]
        : []),
      ...(typeof maxContains === "number" && fit.length > maxContains
        ? [`array at ${place(given.at)} contains too many items that match \`contains\` schema`]
        : []),
    ];
    return { ...nothing(), problems, items: new Set(fit) };
  }),
  minItems: size("minItems", "is less than", (count, limit) => count >= limit),
  maxItems: size("maxItems", "is greater than", (count, limit) => count <= limit),
  uniqueItems: ofArray(({ schema, at }, list) => {
    const texts = list.map(sortedText);
    if (schema.uniqueItems !== true || new Set(texts).size === texts.length) return nothing();
    return wrong(`array items at ${place(at)} are not unique`);
  }),
};

type OfArray = (given: KeywordVisit, list: readonly Json[], before: Evaluation) => Evaluation;

function ofArray(work: OfArray): Keyword {
  return (given, before) =>
    Array.isArray(given.value) ? work(given, given.value as readonly Json[], before) : nothing();
}

const listOf = (value: Json | undefined): readonly Json[] =>
  Array.isArray(value) ? (value as readonly Json[]) : [];

function inside(
  given: KeywordVisit,
  list: readonly Json[],
  schemaOf: (index: number) => Json | undefined,
): Evaluation {
  const found = nothing();
  for (const [index, value] of list.entries()) {
    const schema = schemaOf(index);
    if (schema === undefined) continue;
    found.items.add(index);
    found.problems.push(...given.visit({ ...given, schema, value, at: [...given.at, index] }).problems);
  }
  return found;
}

/** The same for values that are equal. */
const sortedText = (value: Json): string =>
  JSON.stringify(value, (_, one: unknown) =>
    typeof one === "object" && one !== null && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  );

function size(name: string, words: string, fits: (count: number, limit: number) => boolean): Keyword {
  return ofArray(({ schema, at }, list) => {
    const limit = schema[name];
    if (typeof limit !== "number" || fits(list.length, limit)) return nothing();
    return wrong(`array size at ${place(at)} ${words}: ${limit}`);
  });
}
