import type { ScalarTag, Tags } from "yaml";

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
  int(/^[-+]?0b[01_]*[01][01_]*$/, whole(2, 2)),
  int(/^[-+]?0x[0-9a-fA-F_]*[0-9a-fA-F][0-9a-fA-F_]*$/, whole(16, 2)),
  int(/^[-+]?0[0-7_]*[0-7][0-7_]*$/, whole(8, 1)),
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
