import { applyOps } from "@slipway/engine/documents/ops";
import { kindOf, newMap, own, type Tree } from "@slipway/engine/documents/tree";
import { interpolate, type LookUp } from "@slipway/engine/documents/variables";
import { isObject } from "@slipway/protocol/schema/json";
import { BadDefinition, CircularVariables } from "./errors.ts";
import type { OpsFile } from "./inputs.ts";
import type { VarsStore } from "./store.ts";

export interface InterpolationInput {
  readonly document: unknown;
  /** How errors call it. */
  readonly what: string;
  readonly ops: readonly OpsFile[];
  readonly variables: Readonly<Tree>;
  /** Has and makes what `variables` does not have. */
  readonly store: VarsStore | undefined;
}

export interface Evaluated {
  readonly value: unknown;
  /** Names of variables that are used or defined, but have no value. Sorted. */
  readonly missing: readonly string[];
  /** Names that were given, or are in the store, but are not used. Sorted. */
  readonly unused: readonly string[];
}

interface Definition {
  readonly name: string;
  readonly type: string;
  readonly options: unknown;
}

/** Operations first, then the variables it defines are generated, then all are put in; definitions that have a value go. */
export async function evaluate(template: InterpolationInput): Promise<Evaluated> {
  const { what, ops, variables, store } = template;
  let document = template.document;
  for (const { file, operations } of ops) document = applyOps(document, operations, file);

  const definitions = definitionsOf(document, what);
  const asked = new Set<string>();
  const missing = new Set<string>();
  const lookUp: LookUp = (name) => {
    asked.add(name);
    if (Object.hasOwn(variables, name)) return { value: variables[name] };
    return store?.find(name);
  };

  const generate = async (definition: Definition, open: readonly string[]): Promise<void> => {
    const { name, type } = definition;
    if (lookUp(name) !== undefined || store === undefined || type === "") return;
    if (open.includes(name)) throw CircularVariables({ names: [...open.slice(open.indexOf(name)), name] });
    for (const needed of variablesOf(interpolate(definition.options, lookUp).missing)) {
      const other = definitions.find((one) => one.name === needed);
      if (other !== undefined) await generate(other, [...open, name]);
    }
    const options = interpolate(definition.options, lookUp);
    if (options.missing.length === 0) await store.generate({ name, type, options: options.value }, lookUp);
    for (const one of variablesOf(options.missing)) missing.add(one);
  };
  for (const definition of definitions) await generate(definition, []);

  const result = interpolate(document, lookUp);
  for (const name of variablesOf(result.missing)) missing.add(name);
  for (const { name } of definitions) if (lookUp(name) === undefined) missing.add(name);
  const known = [...Object.keys(variables), ...(store?.names() ?? [])];
  return {
    value: withoutFound(result.value, definitions, lookUp),
    missing: [...missing].sort(),
    unused: [...new Set(known.filter((name) => !asked.has(name)))].sort(),
  };
}

/** `a.b.0` is the variable `a`. */
const variablesOf = (written: readonly string[]): readonly string[] => [
  ...new Set(written.map((name) => name.split(".")[0] ?? name)),
];

function definitionsOf(document: unknown, what: string): readonly Definition[] {
  const list = isObject(document) ? own(document, "variables") : undefined;
  if (list === undefined || list === null) return [];
  if (!Array.isArray(list))
    throw BadDefinition({ what, place: "", why: `must be a list, found ${kindOf(list)}` });
  return list.map((item: unknown, i) => {
    const bad = (why: string) => BadDefinition({ what, place: `[${i}]`, why });
    if (!isObject(item)) throw bad(`must be a map, found ${kindOf(item)}`);
    const [name, type] = [own(item, "name"), own(item, "type") ?? ""];
    if (typeof name !== "string" || name === "" || name === "__proto__") throw bad("it needs a name");
    if (typeof type !== "string") throw bad(`its type must be a string, found ${kindOf(type)}`);
    return { name, type, options: own(item, "options") ?? null };
  });
}

function withoutFound(document: unknown, definitions: readonly Definition[], lookUp: LookUp): unknown {
  if (!isObject(document) || definitions.length === 0) return document;
  const list = own(document, "variables");
  if (!Array.isArray(list)) return document;
  const result = Object.assign(newMap(), document);
  // The names in the result may have been variables themselves; the places are the same.
  result.variables = list.filter((_, i) => lookUp(definitions[i]?.name ?? "") === undefined);
  return result;
}
