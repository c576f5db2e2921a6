import { matches } from "./check.ts";
import { shapeOf } from "./children.ts";
import { markOf, type Schema } from "./marks.ts";

export const REDACTED = "<redacted>";

/** Names under which people keep credentials, for data that no schema of ours describes. */
const CREDENTIAL_NAME =
  /pass$|password|passwd|passphrase|secret|token|credential|(api|access|private)_?key|[_-]key$|auth/i;

type Visit = (schema: Schema, value: unknown, name: string | undefined) => unknown;

/**
 * A copy of the value that may be logged: everything marked secret or hidden is replaced, and so is everything the
 * schema does not know or that does not fit it. What is not understood is not shown.
 */
export function redact(schema: Schema, value: unknown): unknown {
  const visit: Visit = (part, inner) => {
    const mark = markOf(part);
    return mark === undefined ? descend(part, inner, visit, () => REDACTED) : maskLeaves(mark, inner);
  };
  return visit(schema, value, undefined);
}

/** A marked object keeps its keys, so that an operator sees what was given, but not the values. */
function maskLeaves(mark: string, value: unknown): unknown {
  if (value === null || value === undefined) return value;
  if (mark === "hidden" && typeof value === "object" && !Array.isArray(value)) {
    return Object.fromEntries(Object.keys(value).map((key) => [key, REDACTED]));
  }
  return REDACTED;
}

/** The texts that must not turn up in any output: secrets, and hidden values whose name says credential. */
export function secretsIn(schema: Schema, value: unknown): string[] {
  const found = new Set<string>();
  const take = (inner: unknown) => {
    for (const text of stringsIn(inner)) if (text.length >= 4) found.add(text);
  };
  const visit: Visit = (part, inner, name) => {
    const mark = markOf(part);
    if (mark === "secret") take(inner);
    else if (mark === "hidden") namedCredentials(inner, name, take);
    else return descend(part, inner, visit, (unknownValue, key) => namedCredentials(unknownValue, key, take));
    return undefined;
  };
  visit(schema, value, undefined);
  return [...found];
}

/** Without recursion, like `stringsIn`: data from outside is nested as deep as its sender likes. */
function namedCredentials(value: unknown, name: string | undefined, take: (found: unknown) => void): void {
  const open: { readonly value: unknown; readonly name: string | undefined }[] = [{ value, name }];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (at.name !== undefined && CREDENTIAL_NAME.test(at.name)) take(at.value);
    else if (typeof at.value === "string") passwordsInUrl(at.value).forEach(take);
    else if (typeof at.value === "object" && at.value !== null) {
      const ownName = Array.isArray(at.value) ? at.name : undefined;
      for (const [key, inner] of Object.entries(at.value)) open.push({ value: inner, name: ownName ?? key });
    }
  }
}

function* stringsIn(value: unknown): Generator<string> {
  const open = [value];
  while (open.length > 0) {
    const at = open.pop();
    if (typeof at === "string") {
      yield at;
      yield* passwordsInUrl(at);
    } else if (typeof at === "object" && at !== null) {
      for (const inner of Object.values(at)) open.push(inner);
    }
  }
}

/** The password inside a URL is a secret on its own, as written and as meant. */
function passwordsInUrl(text: string): readonly string[] {
  const found = /^[a-z][a-z0-9+.-]*:\/\/[^/@\s:]*:([^/@\s]+)@/i.exec(text)?.[1];
  return found === undefined ? [] : [found, safeDecode(found)];
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function descend(
  schema: Schema,
  value: unknown,
  visit: Visit,
  unknownValue: (value: unknown, name: string | undefined) => unknown,
): unknown {
  const shape = shapeOf(schema);
  switch (shape.kind) {
    case "maybe":
      return value === null || value === undefined ? value : visit(shape.inner, value, undefined);
    case "oneOf": {
      const fitting = shape.options.find((option) => matches(option, value));
      return fitting === undefined ? unknownValue(value, undefined) : visit(fitting, value, undefined);
    }
    case "words":
      return shape.words.some((word) => word === value) ? value : unknownValue(value, undefined);
    case "leaf":
      return matches(schema, value) ? value : unknownValue(value, undefined);
    case "list":
      return Array.isArray(value)
        ? value.map((item) => visit(shape.item, item, undefined))
        : unknownValue(value, undefined);
    case "tuple":
      return Array.isArray(value)
        ? value.map((item, at) => {
            const part = shape.items[at];
            return part === undefined ? unknownValue(item, undefined) : visit(part, item, undefined);
          })
        : unknownValue(value, undefined);
    case "map":
    case "fields": {
      if (typeof value !== "object" || value === null || Array.isArray(value))
        return unknownValue(value, undefined);
      return Object.fromEntries(
        Object.entries(value).map(([key, inner]) => {
          const part = partFor(shape, key);
          return [key, part === undefined ? unknownValue(inner, key) : visit(part, inner, key)];
        }),
      );
    }
  }
}

function partFor(
  shape: Extract<ReturnType<typeof shapeOf>, { kind: "map" | "fields" }>,
  key: string,
): Schema | undefined {
  if (shape.kind === "map") return shape.value;
  if (Object.hasOwn(shape.fields, key)) return shape.fields[key];
  return typeof shape.rest === "string" ? undefined : shape.rest;
}
