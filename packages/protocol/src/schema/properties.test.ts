import { arbitraryFor, mutated } from "@slipway/testkit/arbitrary";
import { rounds } from "@slipway/testkit/sample";
import { tries } from "@slipway/testkit/tries";
import { DOCUMENTS, fits, METHOD_VERSIONS } from "@slipway/testkit/wire-documents";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { argsIn, resultIn } from "../cpi/method.ts";
import { readUserData } from "../settings/user-data.ts";
import { check, matches } from "./check.ts";
import { shapeOf } from "./children.ts";
import { fieldDocs, typeText } from "./describe.ts";
import type { Schema } from "./marks.ts";
import { redact, secretsIn } from "./redact.ts";

/** Every schema of the contract once, under the first name it has. */
function everySchema(): readonly (readonly [string, Schema])[] {
  const found = new Map<Schema, string>();
  const add = (name: string, schema: Schema) => {
    if (!found.has(schema)) found.set(schema, name);
  };
  for (const [name, schema] of Object.entries(DOCUMENTS)) add(name, schema);
  for (const [version, method] of METHOD_VERSIONS) {
    for (const argument of argsIn(method, version))
      add(`${method.name} argument ${argument.name}`, argument.schema);
    add(`${method.name} result of version ${version}`, resultIn(method, version).schema);
  }
  return [...found].map(([schema, name]) => [name, schema] as const);
}

const SCHEMAS = everySchema();
const RUNS = rounds({ sample: 20, all: 60 });

describe.each(SCHEMAS)("%s", (_, schema) => {
  const values = arbitraryFor(schema);

  it("takes every value made for it, before and after JSON, and hands it back untouched", () => {
    fc.assert(
      fc.property(values, (value) => {
        expect(fits(schema, value)).toEqual([]);
        const travelled: unknown = JSON.parse(JSON.stringify(value));
        expect(travelled).toEqual(value);
        const checked = check(schema, travelled);
        expect(checked.ok && checked.value === travelled).toBe(true);
      }),
      { numRuns: RUNS },
    );
  });

  it("can be redacted and searched for secrets, and of what is redacted no more is found", () => {
    fc.assert(
      fc.property(values, (value) => {
        const text = JSON.stringify(redact(schema, value)) ?? "";
        expect(
          secretsIn(schema, value).every((found) => typeof found === "string" && found.length >= 4),
        ).toBe(true);
        expect(JSON.stringify(redact(schema, JSON.parse(text)))).toBe(text);
      }),
      { numRuns: RUNS },
    );
  });

  it("judges spoiled values without throwing, and the same way each time", () => {
    fc.assert(
      fc.property(fc.oneof(values.chain(mutated), fc.anything({ maxDepth: 3 })), (value) => {
        const checked = check(schema, value, "it");
        expect(matches(schema, value)).toBe(checked.ok);
        if (!checked.ok) {
          expect(checked.problems.length).toBeGreaterThan(0);
          for (const problem of checked.problems) expect(problem).toMatch(/^(it|and \d+ more)/);
        }
        redact(schema, value);
        secretsIn(schema, value);
        readUserData(value);
      }),
      { numRuns: tries(100) },
    );
  });

  it("is described in words", () => {
    expect(typeText(schema)).not.toBe("");
    for (const row of fieldDocs(schema)) expect(row.path).not.toMatch(/undefined/);
    expect(shapeOf(schema).kind).not.toBe("");
  });
});
