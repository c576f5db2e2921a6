import { isObject } from "@slipway/protocol/schema/json";
import type { Modifier, Piece } from "./pointer.ts";
import { shown } from "./problems.ts";
import { clone, kindOf, newMap, own } from "./tree.ts";

export type Act =
  | { readonly kind: "replace"; readonly value: unknown }
  | { readonly kind: "remove" }
  | {
      readonly kind: "look";
      readonly see: (value: unknown) => void;
      /** True if an optional part that is missing reads as the value a replace would have made there. */
      readonly lenient?: true;
    };

/** Makes the error; `missing` says that what the path asks for is not there. */
export type Failed = (why: string, missing?: boolean) => Error;

/** Does one thing at the end of a path, in place, and gives the document back (the root may be replaced). */
export function patch(document: unknown, pieces: readonly Piece[], act: Act, failed: Failed): unknown {
  if (pieces.length === 0) {
    if (act.kind === "remove") throw failed("the whole document cannot be removed");
    if (act.kind === "replace") return clone(act.value);
    act.see(document);
    return document;
  }
  let at = document;
  for (const [i, piece] of pieces.entries()) {
    const step: Step = {
      at,
      piece,
      next: pieces[i + 1],
      act,
      failed,
      path: pathText(pieces.slice(0, i + 1)),
    };
    const next = piece.kind === "key" ? stepKey(step, piece) : stepList(step, piece);
    if (next === undefined) return document;
    at = next.value;
  }
  return document;
}

interface Step {
  readonly at: unknown;
  readonly piece: Piece;
  readonly next: Piece | undefined;
  readonly act: Act;
  readonly failed: Failed;
  readonly path: string;
}

/** Value to continue with; undefined if the path is done. */
type Next = { readonly value: unknown } | undefined;

function stepKey({ at, next, act, failed, path }: Step, piece: Extract<Piece, { kind: "key" }>): Next {
  const { key, optional } = piece;
  if (!isObject(at)) throw failed(`expected a map at '${path}', found ${kindOf(at)}`, at === undefined);
  if (key === "__proto__") throw failed("the key __proto__ is not accepted");
  const found = Object.hasOwn(at, key);
  if (!found && !(optional && (act.kind !== "look" || act.lenient))) {
    throw failed(`there is no key '${shown(key)}' at '${path}'; ${keysOf(at)}`, true);
  }
  if (!found && act.kind === "remove") return undefined;
  if (!found && act.kind === "look") return next === undefined ? seen(act, null) : made(next, failed, path);
  if (next === undefined) {
    if (act.kind === "remove") delete at[key];
    else if (act.kind === "replace") at[key] = clone(act.value);
    else act.see(own(at, key));
    return undefined;
  }
  if (!found) at[key] = emptyFor(next, failed, path);
  return { value: own(at, key) };
}

const made = (next: Piece, failed: Failed, path: string): Next => ({ value: emptyFor(next, failed, path) });

function seen(act: Extract<Act, { kind: "look" }>, value: unknown): undefined {
  act.see(value);
}

function emptyFor(next: Piece, failed: Failed, path: string): unknown {
  if (next.kind === "index") throw failed(`an index cannot follow what is missing at '${path}'`, true);
  return next.kind === "key" ? newMap() : [];
}

function stepList({ at, next, act, failed, path }: Step, piece: Exclude<Piece, { kind: "key" }>): Next {
  if (!Array.isArray(at)) throw failed(`expected a list at '${path}', found ${kindOf(at)}`, at === undefined);
  const list: unknown[] = at;
  if (piece.kind === "end") {
    if (act.kind !== "replace") throw failed(`/- at '${path}' can only be used to replace`);
    list.push(clone(act.value));
    return undefined;
  }
  const start = piece.kind === "index" ? piece.index : findMatch(list, piece, failed, path);
  if (start === undefined) {
    if (act.kind === "remove") return undefined;
    if (piece.kind !== "match") throw failed(`nothing is at '${path}'`, true);
    if (act.kind === "replace") return append(list, piece, next, act.value);
    if (!act.lenient) throw failed(`nothing is at '${path}'`, true);
    return next === undefined ? seen(act, itemFor(piece)) : { value: itemFor(piece) };
  }
  const index = concrete(start, piece.modifiers, list.length);
  const inserting = piece.modifiers.some((name) => name === "before" || name === "after");
  if (inserting) {
    if (act.kind !== "replace") throw failed(`:before and :after at '${path}' can only be used to replace`);
    if (index < 0 || index > list.length) throw failed(outside(path, index, list.length), true);
    list.splice(index, 0, clone(act.value));
    return undefined;
  }
  if (index < 0 || index >= list.length) throw failed(outside(path, index, list.length), true);
  if (next !== undefined) return { value: list[index] };
  if (act.kind === "remove") list.splice(index, 1);
  else if (act.kind === "replace") list[index] = clone(act.value);
  else act.see(list[index]);
  return undefined;
}

function append(
  list: unknown[],
  piece: Extract<Piece, { kind: "match" }>,
  next: Piece | undefined,
  value: unknown,
): Next {
  if (next === undefined) {
    list.push(clone(value));
    return undefined;
  }
  const item = itemFor(piece);
  list.push(item);
  return { value: item };
}

function itemFor(piece: Extract<Piece, { kind: "match" }>): unknown {
  const item = newMap();
  item[piece.key] = piece.value;
  return item;
}

function findMatch(
  list: readonly unknown[],
  piece: Extract<Piece, { kind: "match" }>,
  failed: Failed,
  path: string,
): number | undefined {
  const found = list.flatMap((item, i) =>
    isObject(item) && own(item, piece.key) === piece.value ? [i] : [],
  );
  if (found.length === 1) return found[0];
  if (found.length === 0 && piece.optional) return undefined;
  throw failed(`expected exactly one match at '${path}', found ${found.length}`, found.length === 0);
}

/** Negative indexes count from the end; `:before` and `:after` give where to insert. */
function concrete(start: number, modifiers: readonly Modifier[], length: number): number {
  let index = start < 0 ? start + length : start;
  // An insertion point one past the end is only reached by :after an item that is there.
  if (index < 0 || index >= length) return -1;
  for (const modifier of modifiers) {
    if (modifier === "prev") index--;
    else if (modifier === "next") index++;
    else if (modifier === "after") index++;
    if (index < 0 || index > length || (index === length && modifier !== "after")) return -1;
  }
  return index;
}

const outside = (path: string, index: number, length: number) =>
  index < 0
    ? `nothing is at '${path}': the list has ${length} items`
    : `'${path}' is outside: the list has ${length} items`;

function keysOf(map: object): string {
  const keys = Object.keys(map).slice(0, 20).map(shown);
  return keys.length === 0 ? "the map is empty" : `there is: ${keys.join(", ")}`;
}

const pathText = (pieces: readonly Piece[]): string =>
  pieces
    .map((piece) => {
      if (piece.kind === "key") return `/${shown(piece.key)}`;
      if (piece.kind === "index") return `/${piece.index}`;
      return piece.kind === "end" ? "/-" : `/${shown(piece.key)}=${shown(piece.value)}`;
    })
    .join("");
