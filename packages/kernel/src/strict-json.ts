import { defineError } from "./errors.ts";

export const BadJson = defineError<{ what: string; why: string }>({
  code: "KER-002",
  kind: "operator",
  message: (p) => `${p.what} is not acceptable JSON: ${p.why}`,
  next: "Correct the document. One JSON value, no key twice in one object, no __proto__ key, nested at most 128 deep.",
});

export const MAX_DEPTH = 128;

/**
 * Parses JSON from outside. Refuses what parsers disagree about or trip over: a key given twice, a `__proto__` key,
 * nesting deep enough to exhaust a stack. The message never quotes the document, which may hold secrets.
 */
export function parseStrictJson(source: string, what: string): unknown {
  if (source.trim() === "") throw BadJson({ what, why: "it is empty" });
  const depth = depthOf(source);
  if (depth > MAX_DEPTH) throw BadJson({ what, why: `it is nested more than ${MAX_DEPTH} deep` });
  const value = parse(source, what);
  const trap = findTrap(source);
  if (trap !== undefined) throw BadJson({ what, why: trap });
  return value;
}

function parse(source: string, what: string): unknown {
  try {
    return JSON.parse(source);
  } catch (error) {
    const at = /position (\d+)/.exec(error instanceof Error ? error.message : "")?.[1];
    throw BadJson({
      what,
      why: at === undefined ? "it ends too early or is malformed" : `syntax error at character ${at}`,
    });
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Index just past the string that starts at `at`. */
function skipString(source: string, at: number): number {
  for (let i = at + 1; i < source.length; i++) {
    const c = source.charCodeAt(i);
    if (c === BACKSLASH) i++;
    else if (c === QUOTE) return i + 1;
  }
  return source.length;
}

function depthOf(source: string): number {
  let depth = 0;
  let deepest = 0;
  for (let i = 0; i < source.length; i++) {
    const c = source.charCodeAt(i);
    if (c === QUOTE) i = skipString(source, i) - 1;
    else if (c === 0x5b || c === 0x7b) deepest = Math.max(deepest, ++depth);
    else if (c === 0x5d || c === 0x7d) depth--;
  }
  return deepest;
}

/** Walks source known to be valid JSON: in an object, a string followed by a colon is a key. */
function findTrap(source: string): string | undefined {
  const keys: (Set<string> | undefined)[] = [];
  for (let i = 0; i < source.length; i++) {
    const c = source.charCodeAt(i);
    if (c === 0x7b) keys.push(new Set());
    else if (c === 0x5b) keys.push(undefined);
    else if (c === 0x5d || c === 0x7d) keys.pop();
    else if (c === QUOTE) {
      const end = skipString(source, i);
      const own = keys.at(-1);
      if (own !== undefined && isColon(source, end)) {
        const key = JSON.parse(source.slice(i, end)) as string;
        if (key === "__proto__") return "it has a __proto__ key";
        if (own.has(key)) return `the key ${keyName(key)} stands twice in one object`;
        own.add(key);
      }
      i = end - 1;
    }
  }
  return undefined;
}

function isColon(source: string, from: number): boolean {
  for (let i = from; i < source.length; i++) {
    const c = source.charCodeAt(i);
    if (c === 0x3a) return true;
    if (c !== 0x20 && c !== 0x09 && c !== 0x0a && c !== 0x0d) return false;
  }
  return false;
}

const keyName = (key: string) => (/^[\w.-]{1,64}$/.test(key) ? `"${key}"` : "(unprintable)");
