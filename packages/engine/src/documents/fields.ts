import { isObject, type JsonObject } from "@slipway/protocol/schema/json";
import { type Report, shown } from "./problems.ts";
import { kindOf, own, type Tree } from "./tree.ts";

/** Upstream's numbers for mistakes of form. */
export const WRONG_TYPE = 40000;
export const MISSING = 40001;
export const TOO_SMALL = 40002;
export const TOO_BIG = 40003;
export const WRONG_VALUE = 40005;

interface Bounds {
  readonly min?: number;
  readonly max?: number;
}

/**
 * Reads the keys of one map and reports what does not fit. Every reader gives undefined for a key that is absent or
 * wrong; `need` reports the absent one too. A null is there, and wrong: as upstream, it is not the same as absent.
 */
export interface Fields {
  readonly where: string;
  readonly map: Tree;
  has(key: string): boolean;
  at(key: string): string;
  /** A number is taken as its text. */
  text(key: string): string | undefined;
  needText(key: string, fix: string): string | undefined;
  whole(key: string, bounds?: Bounds): number | undefined;
  needWhole(key: string, fix: string, bounds?: Bounds): number | undefined;
  /** `say`: what is said of a value of another kind. */
  flag(key: string, code?: number, say?: (found: string) => string): boolean | undefined;
  object(key: string): JsonObject | undefined;
  list(key: string): readonly unknown[] | undefined;
  needList(key: string, fix: string): readonly unknown[] | undefined;
  /** A list of strings; items that are none are reported and left out. */
  texts(key: string): readonly string[] | undefined;
  oneOf<const T extends string>(
    key: string,
    choices: readonly T[],
    code?: number,
    say?: (given: string) => string,
  ): T | undefined;
  wrong(code: number, key: string, problem: string, fix: string): void;
}

/** Upstream's words. It shows the object and the value, too; ours may be secrets. */
export const required = (key: string): string => `Required property '${key}' was not specified in object`;
const wrongType = (key: string, value: unknown, type: string): string =>
  `Property '${key}' value (${kindOf(value)}) did not match the required type '${type}'`;
/** Ours, and upstream's names for them. */
const TYPES = { "a string": "String", "a whole number": "Integer", "a list": "Array", "a map": "Hash" };

export function fieldsOf(report: Report, map: Tree, where: string): Fields {
  const at = (key: string) => (where === "" ? key : `${where}.${key}`);
  const wrong = (code: number, key: string, problem: string, fix: string) =>
    report.add(code, at(key), problem, fix);
  const notA = (key: string, value: unknown, expected: keyof typeof TYPES) =>
    wrong(
      WRONG_TYPE,
      key,
      wrongType(key, value, TYPES[expected]),
      value === null ? `Give ${expected}, or remove the key.` : `Write ${expected}.`,
    );
  const has = (key: string) => Object.hasOwn(map, key) && map[key] !== undefined;

  const read = <T>(
    key: string,
    expected: keyof typeof TYPES,
    take: (value: unknown) => T | undefined,
  ): T | undefined => {
    if (!has(key)) return undefined;
    const value = own(map, key);
    const taken = take(value);
    if (taken === undefined) notA(key, value, expected);
    return taken;
  };
  const need = <T>(key: string, fix: string, get: () => T): T => {
    if (!has(key)) wrong(MISSING, key, required(key), fix);
    return get();
  };

  const text = (key: string) => read(key, "a string", asText);
  const whole = (key: string, bounds: Bounds = {}) => {
    const n = read(key, "a whole number", (value) =>
      Number.isSafeInteger(value) ? Number(value) : undefined,
    );
    if (n === undefined) return undefined;
    if (n < (bounds.min ?? n)) {
      wrong(
        TOO_SMALL,
        key,
        `'${key}' value (${n}) should be greater than ${bounds.min}`,
        `The least is ${bounds.min}.`,
      );
      return undefined;
    }
    if (n > (bounds.max ?? n)) {
      wrong(
        TOO_BIG,
        key,
        `'${key}' value (${n}) should be less than ${bounds.max}`,
        `The most is ${bounds.max}.`,
      );
      return undefined;
    }
    return n;
  };
  const list = (key: string) =>
    read(key, "a list", (value) => (Array.isArray(value) ? (value as readonly unknown[]) : undefined));

  return {
    where,
    map,
    has,
    at,
    wrong,
    text,
    needText: (key, fix) => need(key, fix, () => text(key)),
    whole,
    needWhole: (key, fix, bounds) => need(key, fix, () => whole(key, bounds)),
    flag: (key, code = WRONG_TYPE, say) => {
      if (!has(key)) return undefined;
      const value = own(map, key);
      if (typeof value === "boolean") return value;
      const said = say?.(kindOf(value));
      wrong(code, key, said ?? wrongType(key, value, "boolean"), "Write true or false, without quotes.");
      return undefined;
    },
    object: (key) => read(key, "a map", (value) => (isObject(value) ? (value as JsonObject) : undefined)),
    list,
    needList: (key, fix) => need(key, fix, () => list(key)),
    texts: (key) => {
      const items = list(key);
      return items?.flatMap((item, i) => {
        const found = asText(item);
        if (found === undefined) {
          report.add(
            WRONG_TYPE,
            `${at(key)}[${i}]`,
            `expected a string, found ${kindOf(item)}`,
            "Write a string.",
          );
        }
        return found === undefined ? [] : [found];
      });
    },
    oneOf: (key, choices, code = WRONG_VALUE, say = (given) => `unknown value '${given}'`) => {
      const found = text(key);
      const choice = choices.find((one) => one === found);
      if (found !== undefined && choice === undefined) {
        wrong(code, key, say(shown(found)), `Use ${choices.join(" or ")}.`);
      }
      return choice;
    },
  };
}

/** A string that says something, or a number as text. */
function asText(value: unknown): string | undefined {
  if (typeof value === "number" && Number.isFinite(value)) return String(value);
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

/** Returns the maps of a list; other items are reported. Places are named by `nameKey` if an item has it, else by number. */
export function mapsOf(
  report: Report,
  items: readonly unknown[] | undefined,
  where: string,
  nameKey: string | null = "name",
): readonly Fields[] {
  return (items ?? []).flatMap((item, i) => {
    if (!isObject(item)) {
      report.add(WRONG_TYPE, `${where}[${i}]`, `expected a map, found ${kindOf(item)}`, "Write a map.");
      return [];
    }
    const name = nameKey === null ? undefined : asText(own(item, nameKey));
    return [fieldsOf(report, item, `${where}[${name === undefined ? i : shown(name)}]`)];
  });
}

/** Reports every name after the first of its like; `say` in upstream's words, `form` makes of names what must differ. */
export function unique(
  report: Report,
  code: number,
  named: readonly { readonly name: string; readonly where: string }[],
  {
    form = (name) => name,
    say,
  }: { readonly form?: (name: string) => string; readonly say?: (name: string) => string } = {},
): void {
  const seen = new Map<string, string>();
  for (const { name, where } of named) {
    const key = form(name);
    const first = seen.get(key);
    if (first === undefined) seen.set(key, name);
    else {
      const clash =
        first === name ? "is there twice" : `clashes with '${shown(first)}' (both are '${shown(key)}')`;
      const said =
        say === undefined ? `the name '${shown(name)}' ${clash}` : `${say(shown(name))}: it ${clash}`;
      report.add(code, where, said, "Rename or remove one of them.");
    }
  }
}
