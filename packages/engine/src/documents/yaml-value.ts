import type { Node, Pair, Scalar } from "yaml";
import { isAlias, isMap, isScalar, isSeq } from "yaml";
import { newMap, type Tree } from "./tree.ts";

type Fail = (offset: number, problem: string, fix: string) => Error;

const MAX_DEPTH = 200;
/** Limit for all copies of aliased parts: the parser takes no more values than this without aliases, either. */
const MAX_COPIED_VALUES = 300_000;
const MAX_COPIED_CHARACTERS = 32 * 1024 * 1024;

interface Walk {
  readonly fail: Fail;
  readonly anchors: Map<string, Node>;
  /** An anchor may be given twice: an alias means the last one before it. */
  readonly aliased: Map<Node, Node>;
  readonly open: Set<Node>;
  depth: number;
  copying: number;
  copiedValues: number;
  copiedCharacters: number;
}

/** A parsed document as plain values. Throws what `fail` makes. */
export function toValue(root: Node | null, fail: Fail): unknown {
  return value(root, {
    fail,
    anchors: new Map(),
    aliased: new Map(),
    open: new Set(),
    depth: 0,
    copying: 0,
    copiedValues: 0,
    copiedCharacters: 0,
  });
}

/** No database or JSON reader agrees on these. */
const UNSTORABLE = /[\0\ud800-\udfff]/u;

const offset = (node: Node | null): number => node?.range?.[0] ?? 0;

function value(node: Node | null, walk: Walk): unknown {
  if (node === null) return null;
  if (isAlias(node)) return copy(node, walk);
  if ("anchor" in node && node.anchor !== undefined && walk.copying === 0) {
    walk.anchors.set(node.anchor, node);
  }
  if (isScalar(node)) return scalar(node, walk);
  if (walk.depth >= MAX_DEPTH) {
    throw walk.fail(offset(node), `nested more than ${MAX_DEPTH} deep`, "Make it flatter.");
  }
  spend(0, node, walk);
  walk.depth++;
  walk.open.add(node);
  const result = isSeq(node)
    ? node.items.map((item) => value(item as Node | null, walk))
    : isMap(node)
      ? map(node.items as Pair<Node | null, Node | null>[], walk)
      : null;
  walk.open.delete(node);
  walk.depth--;
  return result;
}

function scalar(node: Scalar, walk: Walk): unknown {
  const found = node.value;
  spend(typeof found === "string" ? found.length : 0, node, walk);
  if (typeof found === "string" && UNSTORABLE.test(found)) {
    throw walk.fail(offset(node), "a NUL or half a character (\\0, \\ud800)", "Remove the escape.");
  }
  if (typeof found === "number" && !Number.isFinite(found)) {
    throw walk.fail(offset(node), "a number without end or that is none", "Put it in quotes to mean text.");
  }
  return found === undefined ? null : found;
}

function map(items: readonly Pair<Node | null, Node | null>[], walk: Walk): Tree {
  const result = newMap();
  for (const pair of items) {
    if (isMergeKey(pair.key)) merge(result, pair, walk);
    else result[keyOf(pair.key, walk)] = value(pair.value, walk);
  }
  return result;
}

const isMergeKey = (key: Node | null): boolean =>
  isScalar(key) && key.type === "PLAIN" && key.value === "<<" && key.tag === undefined;

/** Merges as Psych does: merged keys win over the keys before them; in a list of maps the first wins. */
function merge(into: Tree, pair: Pair<Node | null, Node | null>, walk: Walk): void {
  const source = value(pair.value, walk);
  const maps = Array.isArray(source) ? [...source].reverse() : [source];
  for (const one of maps) {
    if (typeof one !== "object" || one === null || Array.isArray(one)) {
      throw walk.fail(
        offset(pair.key),
        "<< needs a map or a list of maps",
        "Point it to an anchor of a map.",
      );
    }
    Object.assign(into, one);
  }
}

function keyOf(node: Node | null, walk: Walk): string {
  const key = value(node, walk);
  if (typeof key === "object" && key !== null) {
    throw walk.fail(offset(node), "a list or a map cannot be a key", "Put the key in quotes.");
  }
  const name = key === null ? "" : String(key);
  if (name === "__proto__") {
    throw walk.fail(offset(node), "the key __proto__ is not accepted", "Use another name.");
  }
  return name;
}

function copy(alias: Node & { readonly source: string }, walk: Walk): unknown {
  const target = walk.aliased.get(alias) ?? walk.anchors.get(alias.source);
  if (target === undefined) {
    throw walk.fail(
      offset(alias),
      "an alias whose anchor is not defined before it",
      "Define the anchor (&) first, or quote the text if it is not meant as an alias.",
    );
  }
  if (walk.open.has(target)) {
    throw walk.fail(offset(alias), "an alias to something that contains it", "Take the circle out.");
  }
  walk.aliased.set(alias, target);
  walk.copying++;
  const result = value(target, walk);
  walk.copying--;
  return result;
}

/** Work is bounded, not only what comes of it: merges of merges copy much and keep little. */
function spend(characters: number, node: Node, walk: Walk): void {
  if (walk.copying === 0) return;
  walk.copiedValues += 1;
  walk.copiedCharacters += characters;
  if (walk.copiedValues > MAX_COPIED_VALUES || walk.copiedCharacters > MAX_COPIED_CHARACTERS) {
    const problem = `its aliases multiply to more than ${MAX_COPIED_VALUES} values or 32 MB`;
    throw walk.fail(offset(node), problem, "Use fewer aliases of aliases.");
  }
}
