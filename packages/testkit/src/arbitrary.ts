import { matches } from "@slipway/protocol/schema/check";
import { type Shape, shapeOf } from "@slipway/protocol/schema/children";
import type { Schema } from "@slipway/protocol/schema/marks";
import fc from "fast-check";

/** Reduces a value to what JSON can carry: no `undefined`, no negative zero. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

const key = fc.oneof(
  { weight: 4, arbitrary: fc.stringMatching(/^[a-z][a-z0-9_-]{0,7}$/) },
  fc.string({ maxLength: 6 }),
);
const anyJson = fc.jsonValue({ maxDepth: 2 });
const anyObject = fc.dictionary(key, anyJson, { maxKeys: 3 });

/** Leaves are drawn from what schemas usually want of them; what a schema refuses is drawn again. */
const LEAVES: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  string: fc.oneof(
    fc.stringMatching(/^[a-zA-Z0-9][-\w.+]{0,11}$/),
    fc.string({ minLength: 1, maxLength: 12 }),
  ),
  number: fc.oneof(fc.integer({ min: 1, max: 100_000 }), fc.double({ noNaN: true, noDefaultInfinity: true })),
  boolean: fc.boolean(),
  object: anyObject,
  json: anyJson,
  unknown: anyJson,
};

/**
 * Values of a schema, made by walking it: a new schema needs no generator of its own. Every value is plain JSON.
 */
export function arbitraryFor(schema: Schema): fc.Arbitrary<unknown> {
  return drawnFrom(schema).map(plain);
}

function drawnFrom(schema: Schema): fc.Arbitrary<unknown> {
  const drawn = byShape(shapeOf(schema));
  // Only a pipe can ask for more than the shape says.
  return "pipe" in schema ? drawn.filter((value) => matches(schema, value)) : drawn;
}

function byShape(shape: Shape): fc.Arbitrary<unknown> {
  switch (shape.kind) {
    case "leaf": {
      const leaf = LEAVES[shape.type];
      if (leaf === undefined) throw new Error(`no values are known for a leaf of type ${shape.type}`);
      return leaf;
    }
    case "words":
      return fc.constantFrom(...shape.words);
    case "maybe":
      return shape.null ? fc.option(drawnFrom(shape.inner), { nil: null, freq: 8 }) : drawnFrom(shape.inner);
    case "oneOf":
      return fc.oneof(...shape.options.map(drawnFrom));
    case "list":
      return fc.array(drawnFrom(shape.item), { maxLength: 3 });
    case "tuple":
      return fc.tuple(...shape.items.map(drawnFrom));
    case "map":
      return fc.dictionary(key, drawnFrom(shape.value), { maxKeys: 3 });
    case "fields":
      return fields(shape);
  }
}

function fields(shape: Extract<Shape, { kind: "fields" }>): fc.Arbitrary<unknown> {
  const names = Object.keys(shape.fields);
  const required = names.filter((name) => !mayMiss(shape.fields[name]));
  const known = fc.record(
    Object.fromEntries(Object.entries(shape.fields).map(([name, field]) => [name, drawnFrom(field)])),
    { requiredKeys: required },
  );
  const rest = typeof shape.rest === "string" ? anyJson : drawnFrom(shape.rest);
  const others = fc.dictionary(
    key.filter((name) => !names.includes(name)),
    rest,
    { maxKeys: 2 },
  );
  return fc.tuple(known, others).map(([own, extra]) => ({ ...extra, ...own }));
}

function mayMiss(schema: Schema | undefined): boolean {
  if (schema === undefined) return true;
  const shape = shapeOf(schema);
  return shape.kind === "maybe" && (shape.missing || mayMiss(shape.inner));
}

type Path = readonly (string | number)[];

/** A step of spoiling: where (counted through all nodes, wrapping round), how, and with what. */
interface Spoil {
  readonly at: number;
  readonly how: "replace" | "delete" | "add" | "swap" | "nest";
  readonly name: string;
  readonly junk: unknown;
  readonly depth: number;
}

const NAMES = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "",
  "persistent",
  "vm_cid",
  "a b",
  "0",
  "\u0000",
];
const JUNK = [
  null,
  true,
  0,
  -1,
  1.5,
  1e21,
  "",
  " ",
  "2",
  "x".repeat(5000),
  [],
  {},
  [[]],
  [null],
  { x: { y: [] } },
];

const spoil: fc.Arbitrary<Spoil> = fc.record({
  at: fc.nat(),
  how: fc.constantFrom("replace", "delete", "add", "swap", "nest"),
  name: fc.oneof(fc.constantFrom(...NAMES), key),
  junk: fc.oneof(fc.constantFrom(...JUNK), anyJson),
  // Deep enough to matter, shallow enough for a failure to be printed.
  depth: fc.constantFrom(1, 2, 20, 200),
});

/** The value with one to four small things wrong with it, or about it. */
export function mutated(value: unknown): fc.Arbitrary<unknown> {
  return fc.array(spoil, { minLength: 1, maxLength: 4 }).map((spoils) => spoils.reduce(apply, value));
}

function apply(value: unknown, step: Spoil): unknown {
  const paths = pathsIn(value);
  const path = paths[step.at % paths.length] ?? [];
  return edit(value, path, (node) => {
    switch (step.how) {
      case "replace":
        return step.junk;
      case "delete":
        return Array.isArray(node) ? node.slice(1) : without(node, step.at);
      case "add":
        return Array.isArray(node) ? [...node, step.junk] : withKey(node, step.name, step.junk);
      case "swap":
        return swapped(node);
      case "nest":
        return nested(node, step.depth);
    }
  });
}

/** The places of a value, itself first. Deep and wide values are walked in part. */
function pathsIn(value: unknown): readonly Path[] {
  const paths: Path[] = [[]];
  const open: { readonly node: unknown; readonly path: Path }[] = [{ node: value, path: [] }];
  for (let at = open.pop(); at !== undefined && paths.length < 400; at = open.pop()) {
    if (typeof at.node !== "object" || at.node === null || at.path.length > 20) continue;
    for (const [name, inner] of Object.entries(at.node)) {
      const path = [...at.path, Array.isArray(at.node) ? Number(name) : name];
      paths.push(path);
      open.push({ node: inner, path });
    }
  }
  return paths;
}

function edit(value: unknown, path: Path, change: (node: unknown) => unknown): unknown {
  const [first, ...rest] = path;
  if (first === undefined) return change(value);
  if (Array.isArray(value)) return value.map((item, at) => (at === first ? edit(item, rest, change) : item));
  return Object.fromEntries(
    Object.entries(value as object).map(([name, inner]) => [
      name,
      name === first ? edit(inner, rest, change) : inner,
    ]),
  );
}

const isRecord = (node: unknown): node is Record<string, unknown> =>
  typeof node === "object" && node !== null && !Array.isArray(node);

function without(node: unknown, pick: number): unknown {
  if (!isRecord(node)) return null;
  const entries = Object.entries(node);
  return Object.fromEntries(entries.filter((_, at) => at !== pick % entries.length));
}

/** Adds a key, also one that an assignment would take for the prototype. */
const withKey = (node: unknown, name: string, value: unknown) =>
  Object.fromEntries([...(isRecord(node) ? Object.entries(node) : []), [name, value]]);

function swapped(node: unknown): unknown {
  if (Array.isArray(node)) return [...node].reverse();
  if (!isRecord(node)) return [node];
  const names = Object.keys(node);
  return Object.fromEntries(names.map((name, at) => [name, node[names[(at + 1) % names.length] ?? name]]));
}

function nested(node: unknown, depth: number): unknown {
  let value = node;
  for (let i = 0; i < depth; i++) value = i % 2 === 0 ? [value] : { x: value };
  return value;
}
