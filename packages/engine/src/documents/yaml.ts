import type { ErrorCode, ScalarTag, Tags } from "yaml";
import { Document, isScalar, LineCounter, parseDocument, visit } from "yaml";
import { BadYaml, YamlTooBig } from "./errors.ts";
import { toValue } from "./yaml-value.ts";

/** The parser takes about 10 microseconds and 1 KB for each piece: these keep it to a few seconds. */
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_PIECES = 300_000;

/**
 * One YAML document as Go and Ruby read it. Maps have no prototype, later keys win over earlier ones, `<<` merges where
 * it stands, aliases are copied out within a bound. Messages name line and column and never quote the document.
 */
export function parseYaml(text: string, what: string): unknown {
  checkSize(text, what);
  checkCharacters(text, what);
  const lines = new LineCounter();
  const fail = (offset: number, problem: string, fix: string) => {
    const { line, col } = lines.linePos(offset);
    return BadYaml({ what, line: Math.max(line, 1), column: Math.max(col, 1), problem, fix });
  };
  const document = nestedSafely(what, () =>
    parseDocument(text, {
      ...yamlOptions,
      lineCounter: lines,
      prettyErrors: false,
      uniqueKeys: false,
      stringKeys: false,
      logLevel: "error",
    }),
  );
  const trouble = document.errors[0] ?? document.warnings[0];
  if (trouble !== undefined) {
    const [problem, fix] = WORDS[trouble.code] ?? UNEXPECTED;
    throw fail(trouble.pos[0], problem, fix);
  }
  return nestedSafely(what, () => toValue(document.contents, fail));
}

/** YAML that Go, Ruby and we read back as the same value: every string is quoted, and every key that is not plainly a name. */
export function writeYaml(value: unknown): string {
  const document = new Document(value, { ...yamlOptions, aliasDuplicateObjects: false });
  visit(document, {
    Pair: (_, { key }) => {
      if (isScalar(key) && !isPlainName(key.value)) key.type = "QUOTE_DOUBLE";
    },
  });
  return escaped(
    document.toString({
      defaultStringType: "QUOTE_DOUBLE",
      defaultKeyType: "PLAIN",
      indentSeq: false,
      lineWidth: 0,
    }),
  );
}

/** Ends of lines to other readers, who would fold them: written as escapes. They only stand in double quotes. */
export const escaped = (text: string): string =>
  text.replace(
    /[\x7f-\x9f\u2028\u2029\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

const isPlainName = (key: unknown): boolean =>
  typeof key === "string" &&
  /^[A-Za-z_][\w./-]*$/.test(key) &&
  !/^(?:y|n|yes|no|on|off|true|false|null)$/i.test(key);

function checkSize(text: string, what: string): void {
  if (text.length > MAX_BYTES) {
    throw YamlTooBig({ what, why: `it has more than ${MAX_BYTES / 1024 / 1024} MB` });
  }
  let pieces = 0;
  for (let i = 0; i < text.length; i++) {
    if (isPiece(text.charCodeAt(i), text, i)) pieces++;
  }
  if (pieces > MAX_PIECES) {
    throw YamlTooBig({
      what,
      why: `it has about ${pieces} keys, items and lines, and ${MAX_PIECES} are the most`,
    });
  }
}

/** Rejects what libyaml rejects: control characters other than tab and line ends. */
function checkCharacters(text: string, what: string): void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  const at = text.search(/[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/);
  if (at < 0) return;
  const before = text.slice(0, at).split("\n");
  const column = (before.at(-1)?.length ?? 0) + 1;
  const code = text.charCodeAt(at).toString(16).padStart(2, "0");
  throw BadYaml({
    what,
    line: before.length,
    column,
    problem: `the control character 0x${code}`,
    fix: "Remove it, or write it as an escape in double quotes.",
  });
}

const PIECES = codes("\n,[]{}!&*");
const PIECES_BEFORE_BLANK = codes("-:?\"'");
const BLANKS = codes(" \t\"'");

/** Returns true if a token may begin here, judged by one character and the next. */
function isPiece(c: number, text: string, at: number): boolean {
  if (PIECES.has(c)) return true;
  return PIECES_BEFORE_BLANK.has(c) && BLANKS.has(text.charCodeAt(at + 1));
}

function codes(characters: string): ReadonlySet<number> {
  return new Set(Array.from(characters, (character) => character.charCodeAt(0)));
}

function nestedSafely<T>(what: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof RangeError) throw YamlTooBig({ what, why: "it is nested too deep" });
    throw error;
  }
}

const UNEXPECTED = [
  "something stands here that cannot stand here",
  "Look for a missing colon, quote, bracket or wrong indentation on this line or the one before.",
] as const;

const WORDS: Partial<Record<ErrorCode, readonly [problem: string, fix: string]>> = {
  BAD_ALIAS: ["an alias (*) without a name", "Quote the text if it is not meant as an alias."],
  BAD_DIRECTIVE: ["an unknown % directive", "Remove the line."],
  BAD_DQ_ESCAPE: [
    "an unknown escape in a double-quoted string",
    "Use single quotes, or double the backslash.",
  ],
  BAD_INDENT: [
    "the indentation does not fit, or a bracket before is not closed",
    "Close the bracket, or line it up with its neighbours, with blanks.",
  ],
  BAD_SCALAR_START: ["plain text cannot begin with this character", "Put the text in quotes."],
  BLOCK_AS_IMPLICIT_KEY: [
    "a second `key: value` on the same line",
    "Put the text in quotes if it holds a colon and a blank.",
  ],
  BLOCK_IN_FLOW: ["an indented block inside [ ] or { }", "Close the bracket first, or write it inside."],
  KEY_OVER_1024_CHARS: ["a key longer than 1024 characters", "Check for a missing colon or quote before."],
  MISSING_CHAR: ["a character is missing", "Close the quote or bracket, or put the colon and blank."],
  MULTILINE_IMPLICIT_KEY: [
    "a key that goes over several lines",
    "Check for a missing colon on the line before.",
  ],
  MULTIPLE_DOCS: ["a second document begins", "Send one document; remove what follows the second ---."],
  TAB_AS_INDENT: ["a tab is used to indent", "Use blanks."],
  TAG_RESOLVE_FAILED: ["a tag (!) that is not known here", "Remove the tag, or quote the text."],
  RESOURCE_EXHAUSTION: ["it is nested too deep", "Make it flatter."],
};

/**
 * Scalars as Ruby's Psych reads them, where the Go CLI agrees or does not care. On purpose different from Psych:
 * dates and `1:30` stay text (as the CLI sends them), and a whole number beyond 2^53 stays text, digit for digit,
 * because a number could not hold it.
 */

const TAG = "tag:yaml.org,2002:";

const whole =
  (radix: number, prefix: number) =>
  (source: string): number | string => {
    const clean = source.replace(/[_,]/g, "");
    const negative = clean.startsWith("-");
    const digits = clean.replace(/^[-+]/, "").slice(prefix);
    const n = Number.parseInt(digits, radix);
    if (Number.isSafeInteger(n)) return negative && n !== 0 ? -n : n;
    return radix === 10 ? clean.replace(/^\+/, "") : source;
  };

const int = (test: RegExp, resolve: ScalarTag["resolve"]): ScalarTag => ({
  tag: `${TAG}int`,
  default: true,
  test,
  resolve,
});

/** Psych takes a number without a point for text or a whole one. */
function floatText(n: number): string {
  const [mantissa = "", exponent] = String(n).split("e");
  const point = mantissa.includes(".") ? mantissa : `${mantissa}.0`;
  return exponent === undefined ? point : `${point}e${exponent}`;
}

const TRUE = /^(?:yes|true|on)$/i;

const OWN: ScalarTag[] = [
  {
    tag: `${TAG}bool`,
    default: true,
    test: /^(?:yes|true|on|no|false|off)$/i,
    resolve: (source) => TRUE.test(source),
    identify: (value) => typeof value === "boolean",
    stringify: ({ value }) => String(value),
  },
  int(/^[-+]?0b_*[01][01_]*$/, whole(2, 2)),
  int(/^[-+]?0x_*[0-9a-fA-F][0-9a-fA-F_]*$/, whole(16, 2)),
  int(/^[-+]?0_*[0-7][0-7_]*$/, whole(8, 1)),
  {
    ...int(/^[-+]?(?:0|[1-9](?:[0-9]|,[0-9]|_[0-9])*)$/, whole(10, 0)),
    identify: (value) => Number.isSafeInteger(value),
    stringify: ({ value }) => String(value),
  },
  {
    tag: `${TAG}float`,
    default: true,
    test: /^[-+]?(?:(?:[0-9][0-9_,]*)\.[0-9]*|\.[0-9]+)(?:[eE][-+][0-9]+)?$/,
    resolve: (source) => Number.parseFloat(source.replace(/[_,]/g, "")),
    identify: (value) => typeof value === "number" && !Number.isSafeInteger(value),
    stringify: ({ value }) => floatText(Number(value)),
  },
  // Read as a number so that it can be refused: no JSON can carry it.
  {
    tag: `${TAG}float`,
    default: true,
    test: /^(?:[-+]?\.inf|\.nan)$/i,
    resolve: () => Number.NaN,
  },
];

const KEPT = new Set(["map", "seq", "null", "str"].map((name) => TAG + name));

/** For both reading and writing, so that what would be read as something else is quoted. */
export const yamlOptions = {
  version: "1.1",
  schema: "yaml-1.1",
  merge: false,
  customTags: (tags: Tags): Tags => [
    ...tags.filter((tag) => typeof tag !== "string" && KEPT.has(tag.tag)),
    ...OWN,
  ],
} as const;
