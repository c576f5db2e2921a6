import { MonitFileInvalid } from "../errors.ts";

/** One piece of a monit file. `quoted` text is never a keyword; a comma before it carries lists of dependencies on. */
export interface Token {
  readonly kind: "word" | "quoted" | "number" | "operator" | "symbol" | "block" | "end";
  readonly text: string;
  readonly quote: '"' | "'" | "";
  readonly line: number;
  readonly afterComma: boolean;
}

/** Characters that end a bare word. */
const BREAKS = new Set([..." \t\r\n\f\v;,()\"'{}"]);
const OPERATOR = /[<>=!]/;

/** Splits a monit file as monit does: free of lines, blanks and `;,()` between words, `#` to the end of the line. */
export function tokensOf(text: string, file: string): readonly Token[] {
  const tokens: Token[] = [];
  let line = 1;
  let at = 0;
  let afterComma = false;
  const push = (kind: Token["kind"], value: string, quote: Token["quote"] = "") => {
    tokens.push({ kind, text: value, quote, line, afterComma });
    afterComma = false;
  };
  const fail = (why: string) => MonitFileInvalid({ file, line, why });
  const upTo = (mark: string, what: string): string => {
    const end = text.indexOf(mark, at);
    if (end < 0) throw fail(what);
    const piece = text.slice(at, end);
    at = end + 1;
    return piece;
  };

  while (at < text.length) {
    const char = text.charAt(at);
    if (char === "\n") {
      line += 1;
      at += 1;
    } else if (char === "#") {
      const end = text.indexOf("\n", at);
      at = end < 0 ? text.length : end;
    } else if (" \t\r\f\v;,()\\\uFEFF".includes(char)) {
      if (char === "\\" && !/^\\\r?(\n|$)/.test(text.slice(at, at + 3))) throw fail("a stray backslash");
      if (char === ",") afterComma = true;
      at += 1;
    } else if (char === '"' || char === "'") {
      at += 1;
      const piece = upTo(char, "unbalanced quotes");
      push("quoted", piece, char);
      line += countLines(piece);
    } else if (char === "{") {
      at += 1;
      const piece = upTo("}", "a { without its }");
      push("block", piece);
      line += countLines(piece);
    } else if (OPERATOR.test(char)) {
      const begun = at;
      while (at < text.length && OPERATOR.test(text.charAt(at))) at += 1;
      push("operator", text.slice(begun, at));
    } else if (char === "%" || char === "}" || char < " ") {
      push("symbol", char);
      at += 1;
    } else {
      const word = wordAt(text, at);
      at += word.length;
      const measured = /^(\d+(?:\.\d+)?)([a-z]+)$/i.exec(word);
      if (/^\d+(\.\d+)?$/.test(word)) push("number", word);
      else if (measured !== null && isUnit(measured[2] ?? "")) {
        push("number", measured[1] ?? "");
        push("word", measured[2] ?? "");
      } else push("word", word);
    }
  }
  push("end", "");
  return tokens;
}

/** A percent sign ends a number, and is part of any other word, such as a URL. */
function wordAt(text: string, from: number): string {
  let at = from;
  while (at < text.length && !BREAKS.has(text.charAt(at))) {
    if (text.charAt(at) === "%" && /^[\d.]+$/.test(text.slice(from, Math.min(at, from + 32)))) break;
    at += 1;
  }
  return text.slice(from, at);
}

const isUnit = (word: string) =>
  /^(b|kb|mb|gb|byte|kilobyte|megabyte|gigabyte|s|ms|seconds?|minutes?|hours?|days?|cycles?)$/i.test(word);

function countLines(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}

/** The words of a program in double quotes: split at blanks, single quotes keep together, nothing else is special. */
export function argumentsOf(text: string): readonly string[] | undefined {
  const found: string[] = [];
  let at = 0;
  while (at < text.length) {
    const char = text.charAt(at);
    if (" \t\r\n".includes(char)) at += 1;
    else if (char === "'") {
      const end = text.indexOf("'", at + 1);
      if (end < 0) return undefined;
      found.push(text.slice(at + 1, end));
      at = end + 1;
    } else {
      const begun = at;
      while (at < text.length && !" \t\r\n".includes(text.charAt(at))) at += 1;
      found.push(text.slice(begun, at));
    }
  }
  return found;
}
