import { isObject } from "@slipway/protocol/schema/json";
import { BadVariableValue, VariablesMissing } from "./errors.ts";
import { shown } from "./problems.ts";
import { kindOf, newMap, own } from "./tree.ts";

/** `((name))`, `((name.path.0))`; a leading `!` is dropped. Blanks inside count only where it is the whole scalar. */
const WHOLE = /^\(\( ?(!?[-/.\w\p{L}]+) ?\)\)$/u;
const INSIDE = /\(\((!?[-/.\w\p{L}]+)\)\)/gu;

/** Looks up a variable; undefined if it is unknown. */
export type LookUp = (name: string) => { readonly value: unknown } | undefined;

export interface Interpolated {
  readonly value: unknown;
  /** Missing variables as they are written, sorted; their placeholders stay as text. */
  readonly missing: readonly string[];
  /** Names of variables, without paths. */
  readonly used: ReadonlySet<string>;
}

/** Looks in a map from names to values. */
export const lookUpIn =
  (variables: Readonly<Record<string, unknown>>): LookUp =>
  (name) =>
    Object.hasOwn(variables, name) ? { value: variables[name] } : undefined;

/** Puts variables in, in keys too. What a variable holds is not looked at again. */
export function interpolate(document: unknown, lookUp: LookUp): Interpolated {
  const missing = new Set<string>();
  const used = new Set<string>();
  const find = (written: string, where: string) => {
    const [name = "", ...path] = written.replace(/^!/, "").split(".");
    const found = lookUp(name);
    if (found === undefined) {
      missing.add(written.replace(/^!/, ""));
      return undefined;
    }
    used.add(name);
    return { value: follow(found.value, path, written, where) };
  };
  const put = (text: string, where: string): unknown => {
    const whole = WHOLE.exec(text)?.[1];
    if (whole !== undefined) {
      const found = find(whole, where);
      return found === undefined ? text : found.value;
    }
    return text.replace(INSIDE, (placeholder, written: string) => {
      const found = find(written, where);
      return found === undefined ? placeholder : embed(found.value, written, where);
    });
  };
  const walk = (value: unknown, where: string): unknown => {
    if (typeof value === "string") return put(value, where);
    if (Array.isArray(value)) return value.map((item, i) => walk(item, `${where}[${i}]`));
    if (!isObject(value)) return value;
    const result = newMap();
    for (const key of Object.keys(value)) {
      const at = where === "" ? shown(key) : `${where}.${shown(key)}`;
      result[keyText(put(key, at), key, at)] = walk(value[key], at);
    }
    return result;
  };
  const value = walk(document, "");
  return { value, missing: [...missing].sort(), used };
}

/** For commands that cannot leave anything open. */
export function interpolateAll(document: unknown, lookUp: LookUp): unknown {
  const { value, missing } = interpolate(document, lookUp);
  if (missing.length > 0) throw VariablesMissing({ names: missing });
  return value;
}

function follow(value: unknown, path: readonly string[], name: string, where: string): unknown {
  let at = value;
  for (const piece of path) {
    const index = /^-?[0-9]+$/.test(piece) ? Number(piece) : undefined;
    const found = Array.isArray(at)
      ? index === undefined
        ? undefined
        : (at.at(index) as unknown)
      : isObject(at) && Object.hasOwn(at, piece)
        ? own(at, piece)
        : undefined;
    if (found === undefined) {
      throw BadVariableValue({ name: shown(name), where, why: `its value has nothing at '${shown(piece)}'` });
    }
    at = found;
  }
  return at;
}

function embed(value: unknown, name: string, where: string): string {
  if (typeof value === "string") return value;
  if (typeof value === "number" && Number.isSafeInteger(value)) return String(value);
  throw BadVariableValue({
    name: shown(name),
    where,
    why: `inside longer text only strings and whole numbers can stand, it is ${kindOf(value)}`,
  });
}

function keyText(value: unknown, key: string, where: string): string {
  if (value === "__proto__") {
    throw BadVariableValue({ name: shown(key), where, why: "__proto__ cannot be a key" });
  }
  return typeof value === "string" ? value : embed(value, key, where);
}
