import { SlipwayError } from "@slipway/kernel/errors";
import { isObject } from "@slipway/protocol/schema/json";
import {
  fillInSlices,
  type Place,
  placeholdersInSlices,
  placeText,
  type Within,
} from "../documents/placeholders.ts";
import { BadVariableName, NotAbsolute, VariablesUnresolved } from "./errors.ts";
import { type Reference, referenceOf, type Scope } from "./names.ts";

/** A version of a variable, with its value. */
export interface Variable {
  readonly id: string;
  readonly value: unknown;
}

/** Gets a variable by absolute name. An error is reported together with those of all other names. */
export type Get = (name: string) => Promise<Variable | SlipwayError>;

/** Numbers of upstream. */
const FETCH = 540001;
const PLACEMENT = 540007;

export interface ResolveOptions {
  readonly scope: Scope;
  readonly get: Get;
  /** Selects the parts to fill in; default all. */
  readonly within?: Within | undefined;
  /** Selects further parts whose variables must exist, so that all missing ones are reported together. */
  readonly needed?: Within | undefined;
  /** Paths at which a map is filled in as placeholders of its keys, not as values: they are pinned one by one. */
  readonly byKey?: Within | undefined;
}

/** Replaces variables by their values. Reports all problems together; never returns a partly resolved document. */
export async function resolveVariables(document: unknown, options: ResolveOptions): Promise<unknown> {
  const found = await findAll(document, options);
  const misplaced = new Set<string>();
  const put = (written: string, whole: boolean, place: Place): unknown => {
    const value = found.get(written)?.value;
    if (whole && isObject(value) && options.byKey?.(place) === true) return placeholdersOf(written, value);
    if (whole || typeof value === "string" || Number.isSafeInteger(value)) return value;
    misplaced.add(
      `Failed to substitute variable: Can not replace '((${written}))' in '${placeText(place)}'. The value should be a String or an Integer.`,
    );
    return "";
  };
  const filled = await fillInSlices(document, put, options.within);
  if (misplaced.size > 0) throw VariablesUnresolved({ problems: [...misplaced], number: PLACEMENT });
  return filled;
}

/** Keys that no placeholder can name get their values. */
const placeholdersOf = (written: string, value: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      /^[a-zA-Z0-9_-]+$/.test(key) ? `((${written}.${key}))` : item,
    ]),
  );

interface Resolved extends Variable {
  readonly reference: Reference;
}

/** Finds all variables, by the text between the brackets; `value` is the value at its path. */
export async function findAll(
  document: unknown,
  { scope, get, within, needed }: ResolveOptions,
): Promise<ReadonlyMap<string, Resolved>> {
  const written = new Set(await placeholdersInSlices(document, within));
  if (needed !== undefined) for (const one of await placeholdersInSlices(document, needed)) written.add(one);
  const references = readNames(written, scope);
  const variables = new Map<string, Variable | SlipwayError>();
  for (const name of new Set(references.map((one) => one.name))) variables.set(name, await get(name));
  const problems = new Set<string>();
  const found = new Map<string, Resolved>();
  for (const reference of references) {
    const variable = variables.get(reference.name);
    if (variable === undefined) continue;
    if (variable instanceof SlipwayError) {
      problems.add(variable.message);
      continue;
    }
    const end = follow(variable.value, reference);
    if (end.ok) found.set(reference.written, { id: variable.id, value: end.value, reference });
    else problems.add(end.problem);
  }
  if (problems.size > 0) throw VariablesUnresolved({ problems: [...problems], number: FETCH });
  return found;
}

/** For a document that belongs to no deployment. */
export async function refuseRelativeNames(document: unknown, within: Within): Promise<void> {
  const relative = [...(await placeholdersInSlices(document, within))].filter(
    (written) => !/^!?\//.test(written),
  );
  if (relative.length > 0) throw NotAbsolute({ names: relative });
}

function readNames(written: ReadonlySet<string>, scope: Scope): readonly Reference[] {
  const problems: string[] = [];
  const references = [...written].flatMap((one) => {
    try {
      return [referenceOf(one, scope)];
    } catch (error) {
      if (!BadVariableName.is(error)) throw error;
      problems.push(error.message);
      return [];
    }
  });
  if (problems.length > 0) throw VariablesUnresolved({ problems, number: Number(BadVariableName.number) });
  return references;
}

type Followed =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: string };

function follow(value: unknown, { name, path }: Reference): Followed {
  let at = value;
  let parent = name;
  for (const key of path) {
    const bad = (why: string): Followed => ({
      ok: false,
      problem: `Failed to fetch variable '${name}' from config server: Expected parent '${parent}' ${why}`,
    });
    if (!isObject(at)) return bad("to be a hash");
    if (!Object.hasOwn(at, key)) return bad(`hash to have key '${key}'`);
    at = at[key];
    parent = `${parent}.${key}`;
  }
  return { ok: true, value: at };
}
