import { errorText, messageTrail, SlipwayError, toError } from "@slipway/kernel/errors";
import { scrubUrls } from "@slipway/protocol/schema/scrub";

/** Upstream's number for whatever has none of its own. */
export const GENERIC_CODE = 100;
export const CANCELLED_CODE = 10001;

const UNKNOWN = "unknown error";
const LONGEST_RESULT = 128;
const LONGEST_MESSAGE = 4000;
const LONGEST_CHAIN = 8;

export interface Failure {
  readonly code: number;
  /** Message for the event log. It has several lines if the error has them, as upstream's. */
  readonly message: string;
  /** Text for the task's `result`. */
  readonly result: string;
}

export function failureOf(error: unknown, taskId: number): Failure {
  const chain = causes(error);
  const unexpected = chain.some(isBug) ? ` (unexpected; see \`bosh task ${taskId} --debug\`)` : "";
  return {
    code: chain.map(numberOf).find((number) => number !== undefined) ?? GENERIC_CODE,
    message: `${advice(error, manyLines)}${unexpected}`,
    result: shortResult(messageTrail(error) || UNKNOWN),
  };
}

/** Returns what happened, in one line, and what the operator does next. */
export const adviceOf = (error: unknown): string => advice(error, oneLine);

function advice(error: unknown, form: (text: string) => string): string {
  const base = form(messageTrail(error)) || UNKNOWN;
  const ours = causes(error).filter((one) => one instanceof SlipwayError);
  // An error that only says where it happened leaves the next step to its cause.
  const known = ours.find(({ next }) => next !== "") ?? ours.at(-1);
  if (known === undefined || known.kind === "bug") return base;
  return `${base}${base.includes("\n") ? "\n" : " "}${hint(known, base)}`;
}

/** The one users of the CLI know. */
const numberOf = (error: Error): number | undefined =>
  error instanceof SlipwayError ? error.number : undefined;

/** Returns the code and the next step, unless the message has that itself. */
const hint = ({ code, next }: SlipwayError, message: string): string =>
  oneLine(message).includes(oneLine(next)) ? `(${code})` : `(${code}). Next: ${next}`;

/** The error with the stacks of its causes, for the debug output. Stacks only: other fields may hold anything. */
export function debugText(error: unknown): string {
  const stacks = causes(error).map((one) => one.stack ?? one.message);
  const parts = error instanceof AggregateError ? error.errors.slice(0, LONGEST_CHAIN) : [];
  return scrubUrls(
    [
      errorText(error),
      ...stacks,
      ...parts.map((part: unknown) => `one of several: ${causes(part)[0]?.stack ?? ""}`),
    ].join("\n"),
  );
}

/** Shortens a text to at most 128 characters, cut after a word. The column takes no NUL, and half a character is of no use. */
export function shortResult(text: string): string {
  const line = oneLine(text);
  if (line.length <= LONGEST_RESULT) return line;
  const cut = line.slice(0, LONGEST_RESULT - 3);
  const word = cut.lastIndexOf(" ");
  // The next character may be a space itself: then the last word is whole.
  const kept = line[cut.length] === " " || word <= 0 ? cut : cut.slice(0, word);
  return `${kept.replace(/[\ud800-\udbff]$/, "").trimEnd()}...`;
}

export const oneLine = (text: string): string =>
  shortened(
    scrubUrls(text)
      .replace(/[\s\p{Cc}]+/gu, " ")
      .trim(),
  );

/** Keeps lines and their indentation: upstream nests errors, and scripts look for its lines. */
export const manyLines = (text: string): string =>
  shortened(
    scrubUrls(text)
      .split("\n")
      .map((line) => line.replace(/[^\S ]|\p{Cc}/gu, " ").trimEnd())
      .filter((line) => line !== "")
      .join("\n")
      .trim(),
  );

const shortened = (text: string): string =>
  text.length <= LONGEST_MESSAGE ? text : `${text.slice(0, LONGEST_MESSAGE)}...`;

/** Mistakes of ours: what the language throws by itself, and what the catalogue calls one. */
function isBug(error: Error): boolean {
  if (error instanceof SlipwayError) return error.kind === "bug";
  return (
    error instanceof TypeError ||
    error instanceof RangeError ||
    error instanceof ReferenceError ||
    error instanceof SyntaxError
  );
}

/** The error and what it came from, at most eight of them. */
export function causes(error: unknown): readonly Error[] {
  const chain: Error[] = [];
  for (let at = error; at !== undefined && chain.length < LONGEST_CHAIN; ) {
    const one = toError(at);
    if (chain.includes(one)) break;
    chain.push(one);
    at = one.cause;
  }
  return chain;
}
