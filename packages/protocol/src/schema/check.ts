import * as v from "valibot";
import { nearNames } from "../near-names.ts";
import type { Schema } from "./marks.ts";

export type Checked<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly string[] };

const MOST_PROBLEMS = 5;

/**
 * Checks a value against a wire schema and hands back the same value, typed. Nothing is rebuilt, defaulted or dropped,
 * so what passes through Slipway stays as it came. Problems name the place and the kind of what was found, never the
 * value itself: it may be a secret.
 */
export function check<const S extends Schema>(
  schema: S,
  value: unknown,
  root = "",
  most = MOST_PROBLEMS,
): Checked<v.InferOutput<S>> {
  const result = v.safeParse(schema, value);
  if (result.success) return { ok: true, value: value as v.InferOutput<S> };
  const issues = result.issues.flatMap((issue) => innermost(issue, []));
  const problems = issues.slice(0, most).map(({ issue, path }) => problemText(issue, path, root, schema));
  const more = issues.length - most;
  return { ok: false, problems: more > 0 ? [...problems, `and ${more} more`] : problems };
}

export const matches = <const S extends Schema>(schema: S, value: unknown): value is v.InferOutput<S> =>
  v.is(schema, value);

interface PlacedIssue {
  readonly issue: v.BaseIssue<unknown>;
  readonly path: readonly v.IssuePathItem[];
}

/** Returns the issues inside the nearest of several forms: they say more than that no form fits. */
function innermost(issue: v.BaseIssue<unknown>, outer: readonly v.IssuePathItem[]): PlacedIssue[] {
  const path = [...outer, ...(issue.path ?? [])];
  const inside =
    issue.type === "union" ? (issue.issues ?? []).flatMap((inner) => innermost(inner, path)) : [];
  const deeper = inside.filter((found) => found.path.length > path.length);
  return deeper.length > 0 ? deeper : [{ issue, path }];
}

function problemText(
  issue: v.BaseIssue<unknown>,
  path: readonly v.IssuePathItem[],
  root: string,
  schema: Schema,
): string {
  const where = pathText(path, root);
  if (issue.type === "strict_object" && issue.expected === "never")
    return `${where}: this key is not known${nearText(path, schema)}`;
  // Our own messages state the rule; the library's default ones quote the value and are replaced.
  if (!issue.message.startsWith("Invalid ")) return `${where}: ${issue.message}`;
  if (issue.expected !== null) {
    if (issue.input === undefined && path.length > 0) return `${where}: it is missing`;
    return `${where}: expected ${expectedText(issue.expected)}, got ${kindOf(issue.input)}`;
  }
  return `${where}: not a valid value (${issue.type})`;
}

/** Longer keys are not misspelled names. */
const LONGEST_KEY = 64;

function nearText(path: readonly v.IssuePathItem[], schema: Schema): string {
  const typed = path.at(-1)?.key;
  if (typeof typed !== "string" || typed.length > LONGEST_KEY) return "";
  const holders = path
    .slice(0, -1)
    .reduce((levels: readonly unknown[], { key }) => levels.flatMap((one) => schemasAt(one, key)), [schema]);
  const known = holders
    .flatMap((one) => formsOf(one))
    .flatMap((one) => Object.keys(member(one, "entries") ?? {}));
  const near = nearNames(typed, [...new Set(known)]);
  return near.length === 0 ? "" : `; did you mean ${near.join(" or ")}?`;
}

const member = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null && name in value ? Reflect.get(value, name) : undefined;

/** Returns the schema without wrappers such as `optional`; of a union, all its forms. */
function formsOf(schema: unknown): readonly unknown[] {
  const wrapped = member(schema, "wrapped");
  if (wrapped !== undefined) return formsOf(wrapped);
  const options = member(schema, "options");
  const forms = Array.isArray(options) ? options.filter((one) => typeof one === "object") : [];
  return forms.length > 0 ? forms.flatMap(formsOf) : [schema];
}

/** Returns the schemas of what a value that fits the schema has at a key. */
const schemasAt = (schema: unknown, key: unknown): readonly unknown[] =>
  formsOf(schema).flatMap((form) => {
    const entries = member(form, "entries");
    const listed = member(form, "items");
    const at = [
      typeof key === "string" &&
      typeof entries === "object" &&
      entries !== null &&
      Object.hasOwn(entries, key)
        ? member(entries, key)
        : undefined,
      Array.isArray(listed) && typeof key === "number" ? (listed as readonly unknown[])[key] : undefined,
      member(form, "item"),
      member(form, "value"),
    ];
    return at.filter((one) => typeof one === "object" && one !== null);
  });

const expectedText = (expected: string) =>
  expected === "never"
    ? "nothing more"
    : expected.replaceAll("Object", "an object").replaceAll("Array", "an array");

function pathText(path: readonly v.IssuePathItem[], root: string): string {
  let text = root;
  for (const item of path) {
    const key = item.key;
    if (typeof key === "number") text += `[${key}]`;
    else {
      const name = typeof key === "string" && /^[\w-]{1,64}$/.test(key) ? key : "(key)";
      text += text === "" ? name : `.${name}`;
    }
  }
  return text === "" ? "the value" : text;
}

/** The kind of a JSON value in words that fit an error message. */
export function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (value === "") return "an empty string";
  if (typeof value === "object") return "an object";
  return `a ${typeof value}`;
}
