import { MonitFileInvalid } from "../errors.ts";
import type { Operator } from "./model.ts";
import type { Token } from "./tokens.ts";

/** Words that monit reads over wherever they stand. */
const NOISE = new Set(
  "is as are for on only with within without program programs and has using use the sum than usage was times but of does".split(
    " ",
  ),
);

/** Reading position in one file. Noise is skipped except by `raw`. */
export interface Cursor {
  readonly file: string;
  peek(): Token;
  next(): Token;
  /** The next token whatever it is: names may be words that are noise elsewhere. */
  raw(): Token;
  rawPeek(): Token;
  /** Returns true if one of these keywords comes next. */
  at(...words: string[]): boolean;
  /** Takes the next token if it is one of these keywords. */
  take(...words: string[]): boolean;
  fail(why: string, token?: Token): Error;
}

export function cursorOver(tokens: readonly Token[], file: string): Cursor {
  let at = 0;
  const end = tokens.at(-1) as Token;
  const token = (place: number): Token => tokens[place] ?? end;
  const skip = () => {
    while (token(at).kind === "word" && NOISE.has(token(at).text.toLowerCase())) at += 1;
  };
  const peek = () => {
    skip();
    return token(at);
  };
  const next = () => {
    const found = peek();
    at += 1;
    return found;
  };
  const isAt = (...words: string[]) => words.includes(keyword(peek()));
  return {
    file,
    peek,
    next,
    raw: () => {
      const found = token(at);
      at += 1;
      return found;
    },
    rawPeek: () => token(at),
    at: isAt,
    take: (...words) => {
      if (!isAt(...words)) return false;
      at += 1;
      return true;
    },
    fail: (why, where = token(at)) => MonitFileInvalid({ file, line: where.line, why }),
  };
}

/** Returns the keyword of a token. Quoted text and numbers are not keywords. */
export const keyword = (token: Token): string => (token.kind === "word" ? token.text.toLowerCase() : "");

export const shown = (token: Token): string =>
  token.kind === "end" ? "the end of the file" : JSON.stringify(token.text.slice(0, 60));

export function numberNext(cursor: Cursor, what: string): number {
  const token = cursor.next();
  if (token.kind !== "number") throw cursor.fail(`${what} must be a number, not ${shown(token)}`, token);
  return Number(token.text);
}

/** A bare or quoted string. */
export function textNext(cursor: Cursor, what: string): string {
  const token = cursor.next();
  if (token.kind === "word" || token.kind === "number") return token.text;
  if (token.kind !== "quoted") throw cursor.fail(`${what} is missing before ${shown(token)}`, token);
  return unescaped(token.text);
}

export function pathNext(cursor: Cursor, what: string): string {
  const where = cursor.peek();
  const path = textNext(cursor, what);
  if (!path.startsWith("/"))
    throw cursor.fail(`${what} must be an absolute path, not ${shown(where)}`, where);
  return path;
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", " ": " ", "\\": "\\" };
const unescaped = (text: string) =>
  text.replace(/\\([ntr \\])/g, (_, letter: string) => ESCAPES[letter] ?? letter);

const OPERATORS: Readonly<Record<string, Operator>> = {
  ">": ">",
  gt: ">",
  greater: ">",
  "<": "<",
  lt: "<",
  less: "<",
  "=": "=",
  "==": "=",
  eq: "=",
  equal: "=",
  "!=": "!=",
  ne: "!=",
  notequal: "!=",
};

/** Left out it means "equal", as in monit. */
export function operatorNext(cursor: Cursor): Operator {
  const token = cursor.peek();
  const name = token.kind === "operator" ? token.text : keyword(token);
  const found = Object.hasOwn(OPERATORS, name) ? OPERATORS[name] : undefined;
  if (found === undefined) {
    if (token.kind === "operator")
      throw cursor.fail(`the operator ${shown(token)} is not known to monit`, token);
    return "=";
  }
  cursor.next();
  return found;
}

const SECONDS: readonly (readonly [RegExp, number])[] = [
  [/^s(econds?)?$/, 1],
  [/^m(inutes?)?$/, 60],
  [/^h(ours?)?$/, 3600],
  [/^d(ays?)?$/, 86_400],
];

/** A number of seconds, with a unit or without one. */
export function durationNext(cursor: Cursor, what: string): number {
  const count = numberNext(cursor, what);
  const unit = keyword(cursor.peek());
  if (/^(ms|milliseconds?)$/.test(unit)) {
    cursor.next();
    return count / 1000;
  }
  const factor = SECONDS.find(([form]) => form.test(unit))?.[1];
  if (factor === undefined) return count;
  cursor.next();
  return count * factor;
}

const BYTES: readonly (readonly [RegExp, number])[] = [
  [/^(b|bytes?)$/, 1],
  [/^(kb|kilobytes?)$/, 1024],
  [/^(mb|megabytes?)$/, 1024 ** 2],
  [/^(gb|gigabytes?)$/, 1024 ** 3],
];

/** The factor of a unit of memory, if one comes next. */
export function byteUnitNext(cursor: Cursor): number | undefined {
  const unit = keyword(cursor.peek());
  const factor = BYTES.find(([form]) => form.test(unit))?.[1];
  if (factor !== undefined) cursor.next();
  return factor;
}

export function percentNext(cursor: Cursor): boolean {
  if (cursor.take("percent")) return true;
  if (cursor.peek().text !== "%" || cursor.peek().kind !== "symbol") return false;
  cursor.next();
  return true;
}

export function patternNext(cursor: Cursor, what: string): string {
  const where = cursor.peek();
  const pattern = textNext(cursor, what);
  try {
    new RegExp(pattern);
    return pattern;
  } catch {
    throw cursor.fail(`${what} is no regular expression: ${shown(where)}`, where);
  }
}
