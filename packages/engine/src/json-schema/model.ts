import type { Json, JsonObject } from "@slipway/protocol/schema/json";

/** A value, the schema it is held against, and where both stand. */
export interface Visit {
  /** The whole schema, for references. */
  readonly root: Json;
  readonly schema: Json;
  readonly value: Json;
  readonly at: readonly (string | number)[];
  readonly depth: number;
  readonly visit: (given: Visit) => Evaluation;
}

/** Result of a schema: the problems, and the properties and items that it evaluated. */
export interface Evaluation {
  readonly problems: string[];
  readonly properties: Set<string>;
  readonly items: Set<number>;
}

export const nothing = (): Evaluation => ({ problems: [], properties: new Set(), items: new Set() });

export const wrong = (...problems: string[]): Evaluation => ({ ...nothing(), problems });

export type KeywordVisit = Visit & { readonly schema: JsonObject };

/** `before`: what the keywords beside it have found so far. */
export type Keyword = (given: KeywordVisit, before: Evaluation) => Evaluation;

/** All of them; what each has spoken of counts only where it fits. */
export function joined(all: readonly Evaluation[]): Evaluation {
  const found = nothing();
  for (const one of all) {
    found.problems.push(...one.problems);
    if (one.problems.length > 0) continue;
    for (const key of one.properties) found.properties.add(key);
    for (const index of one.items) found.items.add(index);
  }
  return found;
}
