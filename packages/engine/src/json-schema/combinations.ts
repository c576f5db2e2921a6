import type { Json } from "@slipway/protocol/schema/json";
import { joined, type Keyword, type KeywordVisit, nothing, wrong } from "./model.ts";
import { place } from "./place.ts";

const each = (given: KeywordVisit, schemas: Json | undefined) =>
  (Array.isArray(schemas) ? (schemas as readonly Json[]) : []).map((schema) =>
    given.visit({ ...given, schema }),
  );

/** Schemas made of schemas. */
export const COMBINATIONS: Readonly<Record<string, Keyword>> = {
  allOf: (given) => joined(each(given, given.schema.allOf)),
  anyOf: (given) => {
    const all = each(given, given.schema.anyOf);
    const fit = all.filter(({ problems }) => problems.length === 0);
    return fit.length > 0
      ? joined(fit)
      : wrong(`value at ${place(given.at)} does not match any \`anyOf\` schemas`, ...problemsOf(all));
  },
  oneOf: (given) => {
    const all = each(given, given.schema.oneOf);
    const fit = all.filter(({ problems }) => problems.length === 0);
    if (fit.length === 1) return joined(fit);
    if (fit.length > 1) return wrong(`value at ${place(given.at)} matches more than one \`oneOf\` schema`);
    return wrong(
      `value at ${place(given.at)} does not match exactly one \`oneOf\` schema`,
      ...problemsOf(all),
    );
  },
  not: (given) => {
    const { problems } = given.visit({ ...given, schema: given.schema.not ?? true });
    return problems.length > 0 ? nothing() : wrong(`value at ${place(given.at)} matches \`not\` schema`);
  },
  if: (given) => {
    const { if: condition = true, then: held = true, else: otherwise = true } = given.schema;
    const asked = given.visit({ ...given, schema: condition });
    const holds = asked.problems.length === 0;
    const next = given.visit({ ...given, schema: holds ? held : otherwise });
    return joined(holds ? [asked, next] : [next]);
  },
};

const problemsOf = (all: readonly { readonly problems: readonly string[] }[]) =>
  all.flatMap(({ problems }) => problems);
