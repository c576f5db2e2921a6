const LONGEST_TEXT = 1_000;
const LARGEST_VALUE = 16 * 1024;
const DEEPEST = 20;

/** A value as people can read it: certificates and long texts are named, not quoted, and what is too large is left out. */
export function tidy(value: unknown): unknown {
  const short = mapStrings(value, shortened);
  const size = JSON.stringify(short)?.length ?? 0;
  return size > LARGEST_VALUE ? `(${size} characters, left out)` : short;
}

/** Certificates are of no use to who reads a log, and long. */
export const withoutPem = (text: string): string => (text.includes("-----BEGIN ") ? "<PEM>" : text);

function shortened(text: string): string {
  if (withoutPem(text) !== text) return withoutPem(text);
  return text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}... (${text.length} characters)` : text;
}

/** A copy with every string of it, but not the names of its fields, changed. */
export function mapStrings(value: unknown, change: (text: string) => string, depth = 0): unknown {
  if (typeof value === "string") return change(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth >= DEEPEST) return "(nested deeper)";
  if (Array.isArray(value)) return value.map((item) => mapStrings(item, change, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, mapStrings(inner, change, depth + 1)]),
  );
}
