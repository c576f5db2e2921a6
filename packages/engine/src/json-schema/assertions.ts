import { X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import { isObject, type Json } from "@slipway/protocol/schema/json";
import { sameJson } from "../model/equal.ts";
import { type Keyword, nothing, wrong } from "./model.ts";
import { place } from "./place.ts";

/** Keywords about a single value. */
export const ASSERTIONS: Readonly<Record<string, Keyword>> = {
  type: ({ schema, value, at }) => {
    const types = (Array.isArray(schema.type) ? schema.type : [schema.type]) as readonly unknown[];
    if (types.some((type) => isA(String(type), value))) return nothing();
    const [only] = types;
    return wrong(
      types.length === 1
        ? `value at ${place(at)} is not ${WORDS[String(only)] ?? `of the type ${String(only)}`}`
        : `value at ${place(at)} is not one of the types: ${JSON.stringify(types)}`,
    );
  },
  enum: ({ schema, value, at }) =>
    (Array.isArray(schema.enum) ? schema.enum : []).some((one) => sameJson(one, value))
      ? nothing()
      : wrong(`value at ${place(at)} is not one of: ${JSON.stringify(schema.enum)}`),
  const: ({ schema, value, at }) =>
    sameJson(schema.const, value)
      ? nothing()
      : wrong(`value at ${place(at)} is not: ${JSON.stringify(schema.const)}`),
  minimum: number("minimum", "is less than", (value, limit) => value >= limit),
  maximum: number("maximum", "is greater than", (value, limit) => value <= limit),
  exclusiveMinimum: number("exclusiveMinimum", "is less than or equal to", (value, limit) => value > limit),
  exclusiveMaximum: number(
    "exclusiveMaximum",
    "is greater than or equal to",
    (value, limit) => value < limit,
  ),
  multipleOf: number("multipleOf", "is not a multiple of", isMultiple),
  minLength: length("minLength", "is less than", (size, limit) => size >= limit),
  maxLength: length("maxLength", "is greater than", (size, limit) => size <= limit),
  pattern: ({ schema, value, at }) => {
    if (typeof value !== "string" || typeof schema.pattern !== "string") return nothing();
    const fits = matches(schema.pattern, value);
    if (fits === undefined) return wrong(`the schema's pattern is no regular expression: ${schema.pattern}`);
    return fits ? nothing() : wrong(`string at ${place(at)} does not match pattern: ${schema.pattern}`);
  },
  format: ({ schema, value, at }) => {
    const format = typeof schema.format === "string" ? FORMATS.get(schema.format) : undefined;
    if (typeof value !== "string" || format === undefined || format(value)) return nothing();
    return wrong(`value at ${place(at)} does not match format: ${String(schema.format)}`);
  },
};

const WORDS: Readonly<Record<string, string>> = {
  null: "null",
  boolean: "a boolean",
  number: "a number",
  integer: "an integer",
  string: "a string",
  array: "an array",
  object: "an object",
  certificate: "a certificate",
};

function isA(type: string, value: Json): boolean {
  if (type === "null") return value === null;
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isObject(value);
  if (type === "integer") return Number.isInteger(value);
  // Upstream's own: one in PEM, or none.
  if (type === "certificate") return typeof value === "string" && (value === "" || isCertificate(value));
  return ["boolean", "number", "string"].includes(type) && typeof value === type;
}

function isCertificate(text: string): boolean {
  try {
    return new X509Certificate(text).raw.length > 0;
  } catch {
    return false;
  }
}

function isMultiple(value: number, of: number): boolean {
  const times = value / of;
  return Math.abs(times - Math.round(times)) < 1e-9;
}

function number(name: string, words: string, fits: (value: number, limit: number) => boolean): Keyword {
  return ({ schema, value, at }) => {
    const limit = schema[name];
    if (typeof value !== "number" || typeof limit !== "number" || fits(value, limit)) return nothing();
    return wrong(`number at ${place(at)} ${words}: ${limit}`);
  };
}

function length(name: string, words: string, fits: (size: number, limit: number) => boolean): Keyword {
  return ({ schema, value, at }) => {
    const limit = schema[name];
    if (typeof value !== "string" || typeof limit !== "number" || fits([...value].length, limit))
      return nothing();
    return wrong(`string length at ${place(at)} ${words}: ${limit}`);
  };
}

/** Undefined: it is no regular expression. */
export function matches(pattern: string, text: string): boolean | undefined {
  try {
    return new RegExp(pattern, "u").test(text);
  } catch {
    return undefined;
  }
}

const FORMATS: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ["ipv4", (text) => isIP(text) === 4],
  ["ipv6", (text) => isIP(text) === 6],
  ["uri", (text) => URL.canParse(text)],
  ["uuid", (text) => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)],
  ["date-time", (text) => /^\d{4}-\d\d-\d\dT/i.test(text) && !Number.isNaN(Date.parse(text))],
  ["email", (text) => /^[^\s@]+@[^\s@]+$/.test(text)],
  [
    "hostname",
    (text) =>
      text.length <= 253 &&
      text.split(".").every((part) => /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i.test(part)),
  ],
]);
