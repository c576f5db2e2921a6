/** Paths of ops files, as go-patch reads them. */

export type Modifier = "prev" | "next" | "before" | "after";

export type Piece =
  | { readonly kind: "key"; readonly key: string; readonly optional: boolean }
  | { readonly kind: "index"; readonly index: number; readonly modifiers: readonly Modifier[] }
  | {
      readonly kind: "match";
      readonly key: string;
      readonly value: string;
      readonly optional: boolean;
      readonly modifiers: readonly Modifier[];
    }
  | { readonly kind: "end" };

const MODIFIERS: readonly string[] = ["prev", "next", "before", "after"];

/** The pieces, none for the whole document; or why it is no path. */
export function parsePath(path: string): readonly Piece[] | string {
  if (path === "") return [];
  if (!path.startsWith("/")) return "the path must begin with /";
  const parts = path.slice(1).split("/");
  const pieces: Piece[] = [];
  let optional = false;
  for (const [i, part] of parts.entries()) {
    const [base = "", ...names] = part.split(":");
    const unknown = names.find((name) => !MODIFIERS.includes(name));
    if (unknown !== undefined) {
      return `'${unknown}' is no modifier: use :prev, :next, :before or :after (write ~7 for a colon)`;
    }
    const modifiers = names as Modifier[];
    const last = i === parts.length - 1;
    if (!last && modifiers.some((name) => name === "before" || name === "after")) {
      return ":before and :after can only stand at the end of the path";
    }
    if (base.endsWith("?")) optional = true;
    const piece = readPiece(base, optional, modifiers, last);
    if (typeof piece === "string") return piece;
    pieces.push(piece);
  }
  return pieces;
}

function readPiece(
  base: string,
  optional: boolean,
  modifiers: readonly Modifier[],
  last: boolean,
): Piece | string {
  if (last && base === "-") {
    return modifiers.length > 0 ? "a modifier cannot follow /-" : { kind: "end" };
  }
  if (/^[-+]?[0-9]{1,15}$/.test(base)) return { kind: "index", index: Number(base), modifiers };
  const text = base.endsWith("?") ? base.slice(0, -1) : base;
  const equals = text.indexOf("=");
  if (equals >= 0) {
    const key = plain(text.slice(0, equals));
    return { kind: "match", key, value: plain(text.slice(equals + 1)), optional, modifiers };
  }
  if (modifiers.length > 0) return "a modifier can only follow an index or name=value";
  return { kind: "key", key: plain(text), optional };
}

const ESCAPES: Readonly<Record<string, string>> = { "~0": "~", "~1": "/", "~2": "?", "~3": "=", "~7": ":" };

const plain = (text: string): string => text.replace(/~[01237]/g, (code) => ESCAPES[code] ?? code);
