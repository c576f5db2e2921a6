import type { Dirent } from "node:fs";
import { lstat, readdir, stat } from "node:fs/promises";
import { join, posix } from "node:path";
import { ifThere } from "@slipway/kernel/files";
import { compareBytes } from "./fingerprint.ts";

/** Match of a pattern: a file or a symlink, never a directory. */
export interface MatchedFile {
  /** Below the directory it was looked for in. */
  readonly name: string;
  readonly type: "file" | "symlink";
  readonly executable: boolean;
}

const MOST_ALTERNATIVES = 1000;

/**
 * The files below a directory that a pattern of a package's `files` means. `*` and `?` stay in one part of the path and
 * match a leading dot too; `**` is any number of directories; `{a,b}` and `[a-z]` are as in a shell. What lies behind a
 * symlinked directory is not found: the link itself is. Undefined: it is no pattern, or it leads out.
 */
export async function globFiles(root: string, pattern: string): Promise<readonly MatchedFile[] | undefined> {
  const alternatives = expandBraces(pattern);
  if (alternatives === undefined) return undefined;
  const found = new Map<string, MatchedFile>();
  for (const one of alternatives) {
    const clean = posix.normalize(`./${one}`);
    if (clean === ".." || clean.startsWith("../") || clean.includes("\0")) return undefined;
    const parts = clean.split("/").filter((part) => part !== "" && part !== ".");
    if (!parts.every(isWhole)) return undefined;
    await walk({ root, found }, "", parts);
  }
  return [...found.values()].sort((a, b) => compareBytes(a.name, b.name));
}

interface Search {
  readonly root: string;
  readonly found: Map<string, MatchedFile>;
}

async function walk(search: Search, below: string, parts: readonly string[]): Promise<void> {
  const [part, ...rest] = parts;
  if (part === undefined) return;
  if (!/[*?[\\]/.test(part)) {
    await visit(search, posix.join(below, part), rest);
    return;
  }
  const names = await entries(search.root, below);
  if (part === "**") {
    for (const entry of names) {
      const name = posix.join(below, entry.name);
      if (entry.isDirectory()) await walk(search, name, parts);
      else if (rest.length === 0 && (await leadsSomewhere(search, name, entry)))
        await visit(search, name, []);
    }
    await walk(search, below, rest);
    return;
  }
  for (const entry of names)
    if (matches(part, entry.name)) await visit(search, posix.join(below, entry.name), rest);
}

/** Returns false for a dangling symlink. As upstream, `**` at the end skips those, `*` does not. */
async function leadsSomewhere({ root }: Search, name: string, entry: Dirent): Promise<boolean> {
  if (!entry.isSymbolicLink()) return true;
  return (await ifThere(stat(join(root, name)))) !== undefined;
}

async function visit(search: Search, name: string, rest: readonly string[]): Promise<void> {
  const found = await ifThere(lstat(join(search.root, name)));
  if (found === undefined) return;
  if (found.isDirectory()) await walk(search, name, rest);
  else if (rest.length === 0) {
    const type = found.isSymbolicLink() ? "symlink" : "file";
    search.found.set(name, { name, type, executable: (found.mode & 0o111) !== 0 });
  }
}

async function entries(root: string, below: string): Promise<readonly Dirent[]> {
  return (await ifThere(readdir(join(root, below), { withFileTypes: true }))) ?? [];
}

/** Its classes end, and its last letter is not a backslash. */
function isWhole(part: string): boolean {
  const letters = [...part];
  for (let at = 0; at < letters.length; at++) {
    if (letters[at] === "\\") at++;
    else if (letters[at] === "[") at = classEnd(letters, at);
    if (at >= letters.length) return false;
  }
  return true;
}

/** Returns the index of the closing bracket of a class; beyond the end if there is none. A class has at least one letter. */
function classEnd(letters: readonly string[], start: number): number {
  for (let at = start + 1; at < letters.length; at++) {
    if (letters[at] === "\\") at++;
    else if (letters[at] === "]" && at > start + 1) return at;
  }
  return letters.length;
}

/** One part of a path. Goes back to the last star only, so that no pattern takes long. */
export function matches(pattern: string, name: string): boolean {
  const letters = [...name];
  const terms = termsOf(pattern);
  let [term, letter, star, from] = [0, 0, -1, 0];
  while (letter < letters.length) {
    const now = terms[term];
    if (now === "*") {
      [star, from] = [term++, letter];
    } else if (now?.(letters[letter] ?? "") === true) {
      term++;
      letter++;
    } else if (star >= 0) {
      term = star + 1;
      letter = ++from;
    } else return false;
  }
  while (terms[term] === "*") term++;
  return term === terms.length;
}

type Term = "*" | ((letter: string) => boolean);

function termsOf(pattern: string): readonly Term[] {
  const terms: Term[] = [];
  const letters = [...pattern];
  for (let at = 0; at < letters.length; at++) {
    const letter = letters[at] ?? "";
    if (letter === "*") terms.push("*");
    else if (letter === "?") terms.push(() => true);
    else if (letter === "[") {
      const end = classEnd(letters, at);
      terms.push(classOf(letters.slice(at + 1, end)));
      at = end;
    } else {
      const meant = letter === "\\" ? (letters[++at] ?? "") : letter;
      terms.push((other) => other === meant);
    }
  }
  return terms;
}

function classOf(letters: readonly string[]): (letter: string) => boolean {
  const not = letters[0] === "^";
  const ranges: (readonly [string, string])[] = [];
  for (let at = not ? 1 : 0; at < letters.length; at++) {
    if (letters[at] === "\\") at++;
    const low = letters[at] ?? "";
    if (letters[at + 1] === "-" && at + 2 < letters.length) {
      at += letters[at + 2] === "\\" ? 3 : 2;
      ranges.push([low, letters[at] ?? ""]);
    } else ranges.push([low, low]);
  }
  return (letter) => ranges.some(([low, high]) => low <= letter && letter <= high) !== not;
}

/** `a/{b,c/d}` is `a/b` and `a/c/d`; they may nest. Undefined when one is not closed, or they are too many. */
export function expandBraces(pattern: string): readonly string[] | undefined {
  const open = indexOutsideEscape(pattern, "{");
  if (open < 0) return [pattern];
  const inner: string[] = [];
  let [depth, start, at] = [1, open + 1, open + 1];
  for (; at < pattern.length && depth > 0; at++) {
    const letter = pattern[at];
    if (letter === "\\") at++;
    else if (letter === "{") depth++;
    else if (letter === "}") depth--;
    if ((letter === "," && depth === 1) || depth === 0) {
      inner.push(pattern.slice(start, at));
      start = at + 1;
    }
  }
  if (depth > 0) return undefined;
  const all: string[] = [];
  for (const one of inner) {
    const expanded = expandBraces(pattern.slice(0, open) + one + pattern.slice(at));
    if (expanded === undefined || all.length + expanded.length > MOST_ALTERNATIVES) return undefined;
    all.push(...expanded);
  }
  return all;
}

function indexOutsideEscape(text: string, letter: string): number {
  for (let at = 0; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === letter) return at;
  }
  return -1;
}
