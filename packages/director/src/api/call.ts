import type { IncomingMessage } from "node:http";
import type { Clock } from "@slipway/kernel/clock";
import { toError } from "@slipway/kernel/errors";
import { parseStrictJson } from "@slipway/kernel/strict-json";
import { check } from "@slipway/protocol/schema/check";
import type * as v from "valibot";
import type { Access } from "./permissions.ts";
import { BadParameter, BodyNotJson, BodyUnusable, ParameterMissing, RequestUnusable } from "./refusals.ts";

export type Query = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Schemas that an endpoint declares for its requests and its answer. */
export interface Shapes {
  readonly query?: v.LooseObjectSchema<v.ObjectEntries, undefined>;
  /** Schema of a JSON body. */
  readonly body?: v.GenericSchema;
  readonly reply?: v.GenericSchema;
}

/** Declared parameters of the query; others cannot be read. */
export type QueryOf<S extends Shapes> =
  S["query"] extends v.LooseObjectSchema<infer E, undefined>
    ? { readonly [K in keyof E]?: string | readonly string[] }
    : Record<never, never>;
type BodyOf<S extends Shapes> = S["body"] extends v.GenericSchema ? v.InferOutput<S["body"]> : unknown;

/** One request, as endpoints see it. */
export interface Call<S extends Shapes = Shapes> {
  readonly params: Readonly<Record<string, string>>;
  readonly query: QueryOf<S>;
  /** Empty where no credentials were needed and none were good. */
  readonly user: string;
  /** Access that the user's scopes grant. */
  readonly access: Access;
  /** Id of the request in logs and tasks. */
  readonly requestId: string;
  readonly header: (name: string) => string | undefined;
  /** The whole body, within bounds. */
  readonly text: () => Promise<string>;
  /** The body as JSON, of the declared shape. */
  readonly json: () => Promise<BodyOf<S>>;
  readonly stream: IncomingMessage;
}

export const BODY_LIMIT = 16 << 20;
/** Limit for users who administer nothing: they compare configs, and start nothing. */
export const READER_BODY_LIMIT = 4 << 20;
const BODY_MS = 60_000;

/** Reads a body of text. One that is too long, too slow, cut off or not UTF-8 is refused. */
export async function readText(stream: IncomingMessage, clock: Clock, limit = BODY_LIMIT): Promise<string> {
  if (Number(stream.headers["content-length"] ?? 0) > limit) throw tooLong(limit);
  const bytes = await readBytes(stream, clock, limit);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw BodyUnusable({ why: "is not UTF-8 text", status: 400 }, { cause });
  }
}

const tooLong = (limit: number) =>
  BodyUnusable({ why: `is larger than ${limit >> 20} MiB, the limit for this user`, status: 413 });
const tooSlow = () => BodyUnusable({ why: `took longer than ${BODY_MS / 1000} s`, status: 408 });

/** Reads by events: an iterator would destroy the connection that the refusal is sent on. */
function readBytes(stream: IncomingMessage, clock: Clock, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const end = (settle: () => void) => {
      cancel();
      stream.off("data", onData).off("end", onEnd).off("error", onCut).off("close", onCut);
      settle();
    };
    const onData = (chunk: Buffer) => {
      length += chunk.length;
      chunks.push(chunk);
      if (length > limit) end(() => reject(tooLong(limit)));
    };
    const onEnd = () => end(() => resolve(Buffer.concat(chunks)));
    const onCut = (cause?: Error) =>
      end(() => reject(BodyUnusable({ why: "ended too early", status: 400 }, { cause })));
    const cancel = clock.after(BODY_MS, () => end(() => reject(tooSlow())));
    stream.on("data", onData).once("end", onEnd).once("error", onCut).once("close", onCut);
    if (stream.readableEnded) onEnd();
  });
}

/** Most values of a JSON body. No request of this API has nearly as many: the long part is one string, a document. */
const MOST_VALUES = 20_000;

/** A body as JSON of a shape. */
export function readJson(text: string, schema: v.GenericSchema): unknown {
  if (hasMoreValues(text, MOST_VALUES))
    throw BodyNotJson({ why: `the body has more than ${MOST_VALUES} values` });
  let value: unknown;
  try {
    value = parseStrictJson(text, "the body of the request");
  } catch (cause) {
    throw BodyNotJson({ why: toError(cause).message }, { cause });
  }
  const unstorable = unstorableIn(value, "body");
  if (unstorable !== undefined) {
    throw RequestUnusable({ problems: [`${unstorable}: a NUL or half a character (\\u0000, \\ud800)`] });
  }
  return checked(schema, value, "body");
}

const UNSTORABLE = /[\0\ud800-\udfff]/u;

/** Returns the path of text that no store keeps. The limits of JSON bound the number and depth of values. */
function unstorableIn(value: unknown, where: string): string | undefined {
  if (typeof value === "string") return UNSTORABLE.test(value) ? where : undefined;
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, inner] of Object.entries(value)) {
    const found = UNSTORABLE.test(key)
      ? where
      : unstorableIn(inner, Array.isArray(value) ? `${where}[${key}]` : `${where}.${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Counts commas outside of strings: each stands between two values. */
function hasMoreValues(text: string, most: number): boolean {
  let commas = 0;
  let quoted = false;
  for (let i = 0; i < text.length && commas < most; i++) {
    const c = text.charCodeAt(i);
    if (c === 0x22) quoted = !quoted;
    else if (c === 0x5c) i++;
    else if (c === 0x2c && !quoted) commas++;
  }
  return commas >= most;
}

/** Error 40005 names the places that do not fit. */
export function checked<const S extends v.GenericSchema>(
  schema: S,
  value: unknown,
  what: string,
): v.InferOutput<S> {
  const result = check(schema, value, what);
  if (result.ok) return result.value;
  throw RequestUnusable({ problems: result.problems });
}

/** The last one given. */
function queryLast<Q extends object>(query: Q, name: keyof Q): string | undefined {
  const value = inQuery(query, name);
  return typeof value === "string" || value === undefined ? value : value.at(-1);
}

const inQuery = <Q extends object>(query: Q, name: keyof Q) =>
  query[name] as string | readonly string[] | undefined;

/** Undefined also when it is empty. */
export const queryString = <Q extends object>(query: Q, name: keyof Q): string | undefined =>
  queryLast(query, name) || undefined;

export const queryFlag = <Q extends object>(query: Q, name: keyof Q): boolean =>
  queryLast(query, name) === "true";

export function queryList<Q extends object>(query: Q, name: keyof Q): readonly string[] {
  const value = inQuery(query, name);
  if (value === undefined) return [];
  return typeof value === "string" ? [value] : value;
}

export function param(call: Pick<Call, "params">, name: string): string {
  const value = call.params[name];
  if (value === undefined || value === "") throw ParameterMissing({ where: "path", name });
  return value;
}

/** A whole number of at least `least`. */
export function queryInt<Q extends object>(
  query: Q,
  name: keyof Q & string,
  least: number,
): number | undefined {
  const text = queryString(query, name);
  if (text === undefined) return undefined;
  const value = /^\d{1,15}$/.test(text) ? Number(text) : -1;
  if (value >= least) return value;
  throw BadParameter({ name, expected: `a whole number of at least ${least}` });
}
