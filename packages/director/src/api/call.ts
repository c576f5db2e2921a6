import type { IncomingMessage } from "node:http";
import { DirectorError } from "@slipway/engine/model/director-error";
import type { Clock } from "@slipway/kernel/clock";
import { parseStrictJson } from "@slipway/kernel/strict-json";
import { check } from "@slipway/protocol/schema/check";
import type * as v from "valibot";

export type Query = Readonly<Record<string, string | readonly string[] | undefined>>;

/** One request, as endpoints see it. */
export interface Call {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  /** Empty where no credentials were needed and none were good. */
  readonly user: string;
  readonly header: (name: string) => string | undefined;
  /** The whole body, within bounds. */
  readonly text: () => Promise<string>;
  readonly stream: IncomingMessage;
}

export const BODY_LIMIT = 16 << 20;
const BODY_MS = 60_000;

/** Reads a body of text. One that is too long, too slow, cut off or not UTF-8 is refused. */
export async function readText(stream: IncomingMessage, clock: Clock): Promise<string> {
  if (Number(stream.headers["content-length"] ?? 0) > BODY_LIMIT) throw tooLong();
  const bytes = await readBytes(stream, clock);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new DirectorError(40005, "the body of the request is not UTF-8 text", { cause });
  }
}

const tooLong = () =>
  new DirectorError(40005, `the body of the request is larger than ${BODY_LIMIT >> 20} MiB`, { status: 413 });
const tooSlow = () =>
  new DirectorError(40005, `the body of the request took longer than ${BODY_MS / 1000} s`, { status: 408 });

/** By its events: an iterator would destroy the connection that the refusal is to be sent on. */
function readBytes(stream: IncomingMessage, clock: Clock): Promise<Buffer> {
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
      if (length > BODY_LIMIT) end(() => reject(tooLong()));
    };
    const onEnd = () => end(() => resolve(Buffer.concat(chunks)));
    const onCut = (cause?: Error) =>
      end(() => reject(new DirectorError(40005, "the body of the request ended too early", { cause })));
    const cancel = clock.after(BODY_MS, () => end(() => reject(tooSlow())));
    stream.on("data", onData).once("end", onEnd).once("error", onCut).once("close", onCut);
    if (stream.readableEnded) onEnd();
  });
}

/** The body as JSON of a shape. */
export async function jsonBody<const S extends v.GenericSchema>(
  call: Call,
  schema: S,
): Promise<v.InferOutput<S>> {
  const text = await call.text();
  let value: unknown;
  try {
    value = parseStrictJson(text, "the body of the request");
  } catch (cause) {
    throw new DirectorError(710001, (cause as Error).message, { cause });
  }
  return checked(schema, value, "body");
}

/** Error 40005 names the places that do not fit. */
export function checked<const S extends v.GenericSchema>(
  schema: S,
  value: unknown,
  what: string,
): v.InferOutput<S> {
  const result = check(schema, value, what);
  if (result.ok) return result.value;
  throw new DirectorError(40005, `the request cannot be used: ${result.problems.join("; ")}`);
}

/** The last one given. */
export function one(query: Query, name: string): string | undefined {
  const value = query[name];
  return typeof value === "string" || value === undefined ? value : value.at(-1);
}

/** Undefined also when it is empty. */
export const given = (query: Query, name: string): string | undefined => one(query, name) || undefined;

export const flag = (query: Query, name: string): boolean => one(query, name) === "true";

export function many(query: Query, name: string): readonly string[] {
  const value = query[name];
  if (value === undefined) return [];
  return typeof value === "string" ? [value] : value;
}

export function param(call: Call, name: string): string {
  const value = call.params[name];
  if (value === undefined || value === "") throw new DirectorError(40001, `the path lacks the ${name}`);
  return value;
}

/** A whole number of at least `least`. */
export function whole(query: Query, name: string, least: number): number | undefined {
  const text = given(query, name);
  if (text === undefined) return undefined;
  const value = /^\d{1,15}$/.test(text) ? Number(text) : -1;
  if (value >= least) return value;
  throw new DirectorError(40005, `'${name}' must be a whole number of at least ${least}`);
}
