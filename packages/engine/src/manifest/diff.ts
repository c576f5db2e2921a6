import { isObject } from "@slipway/protocol/schema/json";
import { Document, visit } from "yaml";
import { newMap, own, type Printer, printer, type Tree } from "../documents/tree.ts";
import { yamlOptions } from "../documents/yaml.ts";
import { redact } from "./redact.ts";

export type DiffStatus = null | "added" | "removed";
/** Line of a diff as the CLI expects it: always two elements. */
export type DiffLine = readonly [text: string, status: DiffStatus];

/** Upstream's order of sections; all others follow as they come. */
const ORDER = [
  "azs",
  "vm_types",
  "vm_extensions",
  "resource_pools",
  "compilation",
  "networks",
  "disk_types",
  "name",
  "stemcells",
  "releases",
  "update",
  "jobs",
  "release",
  "addons",
  "variables",
].map((key) => `${key}:`);

/**
 * Returns the changes between two documents as lines of YAML. Lists of maps are matched by `name`, else by `range`. Changes are
 * found in the real values, also if they are shown redacted. A document that is not a map counts as an empty one.
 */
export function diffManifests(
  before: unknown,
  after: unknown,
  options: { readonly redact: boolean },
): readonly DiffLine[] {
  const show = (value: unknown) => (options.redact ? redact(value) : value);
  const old = isObject(before) ? before : newMap();
  const now = isObject(after) ? after : newMap();
  const comparison = new Comparison(printer());
  return inSections(comparison.maps({ real: old, shown: show(old) }, { real: now, shown: show(now) }, 0));
}

/** A value, and how it is shown. */
interface Two {
  readonly real: unknown;
  readonly shown: unknown;
}

interface Line {
  readonly level: number;
  readonly text: string;
  readonly status: DiffStatus;
}

const part = (two: Two, key: string): Two => ({
  real: isObject(two.real) ? (own(two.real, key) ?? null) : null,
  shown: isObject(two.shown) ? (own(two.shown, key) ?? null) : null,
});

interface Item extends Two {
  readonly print: string;
}

const without = (items: readonly Item[], others: readonly Item[]): Item[] => {
  const known = new Set(others.map((item) => item.print));
  return items.filter((item) => !known.has(item.print));
};

/** Compares two documents, and prints each part once. */
class Comparison {
  readonly #print: Printer;

  constructor(print: Printer) {
    this.#print = print;
  }

  maps(before: Two, after: Two, level: number): Line[] {
    const keys = new Set([...Object.keys(before.real as Tree), ...Object.keys(after.real as Tree)]);
    return [...keys].flatMap((key) => this.#key(key, part(before, key), part(after, key), level));
  }

  #key(key: string, before: Two, after: Two, level: number): Line[] {
    if (this.#print(before.real) === this.#print(after.real)) return [];
    if (before.real === null) return yamlLines(pair(key, after.shown), level, "added");
    if (after.real === null) return yamlLines(pair(key, before.shown), level, "removed");
    const nested =
      Array.isArray(before.real) && Array.isArray(after.real)
        ? this.#lists(this.#items(before), this.#items(after), level)
        : isObject(before.real) && isObject(after.real)
          ? this.maps(before, after, level + 1)
          : undefined;
    if (nested === undefined) {
      return [
        ...yamlLines(pair(key, before.shown), level, "removed"),
        ...yamlLines(pair(key, after.shown), level, "added"),
      ];
    }
    return nested.length === 0 ? [] : [{ level, text: `${keyText(key)}:`, status: null }, ...nested];
  }

  #items(list: Two): Item[] {
    const shown = Array.isArray(list.shown) ? (list.shown as readonly unknown[]) : [];
    return (list.real as readonly unknown[]).map((real, i) => ({
      real,
      shown: shown[i],
      print: this.#print(real),
    }));
  }

  #lists(before: readonly Item[], after: readonly Item[], level: number): Line[] {
    const added = without(after, before);
    const removed = without(before, after);
    const all = [...added, ...removed].filter((item) => item.real !== null);
    const key = ["name", "range"].find((name) =>
      all.every((item) => this.#identity(item, name) !== undefined),
    );
    const old = new Map<string, Item>();
    for (const item of removed) {
      const id = key === undefined ? undefined : this.#identity(item, key);
      if (id !== undefined && !old.has(id)) old.set(id, item);
    }
    const matched = new Set<string>();
    const lines = added.flatMap((item) => {
      const id = key === undefined ? undefined : this.#identity(item, key);
      const was = id === undefined ? undefined : old.get(id);
      if (key === undefined || id === undefined || was === undefined) {
        return yamlLines([item.shown], level, "added");
      }
      old.delete(id);
      matched.add(was.print);
      const nested = this.maps(was, item, level + 1);
      const head = pair(key, isObject(item.shown) ? own(item.shown, key) : id);
      return nested.length === 0 ? [] : [...yamlLines([head], level, null), ...nested];
    });
    const gone = removed.filter((item) => !matched.has(item.print)).map((item) => item.shown);
    return gone.length === 0 ? lines : [...lines, ...yamlLines(gone, level, "removed")];
  }

  #identity(item: Item, key: string): string | undefined {
    const value = isObject(item.real) ? own(item.real, key) : undefined;
    return value === undefined || value === null || value === false ? undefined : this.#print(value);
  }
}

const pair = (key: string, value: unknown): Tree => {
  const map = newMap();
  map[key] = value;
  return map;
};

function yamlLines(value: unknown, level: number, status: DiffStatus): Line[] {
  return yamlText(value)
    .replace(/\n$/, "")
    .split("\n")
    .map((text) => ({ level, text, status }));
}

/** Made once: it costs more than most of what is written with it. */
const { schema } = new Document(null, yamlOptions);

const documentOf = (value: unknown): Document =>
  new Document(value, { version: "1.1", schema, aliasDuplicateObjects: false });

const textOf = (document: Document): string =>
  document.toString({ singleQuote: true, indentSeq: false, lineWidth: 0, nullStr: "" });

function yamlText(value: unknown): string {
  const document = documentOf(value);
  visit(document, {
    Scalar: (_, scalar) => {
      if (typeof scalar.value === "string" && IN_QUOTES.test(scalar.value)) scalar.type = "QUOTE_DOUBLE";
    },
  });
  return textOf(document);
}

/** Text that Ruby writes in double quotes, although it could stand without: `"<redacted>"`, `"((password))"`, `"/var"`. */
const IN_QUOTES = /^(?:[^\p{L}\p{M}\p{N}\p{Pc}\n][^"\n]*|[yn])$/u;

/** The key above lines that changed: upstream does not write it as Ruby's YAML. */
const keyText = (key: string): string => textOf(documentOf(pair(key, 0))).replace(/: 0\n$/, "");

/** Each section after an empty line, known ones first. As upstream, a section with its value on its own line is not known. */
function inSections(lines: readonly Line[]): readonly DiffLine[] {
  const sections: { readonly title: string; readonly lines: Line[] }[] = [];
  for (const line of lines) {
    if (line.level === 0 && /^[^ -]/.test(line.text)) sections.push({ title: line.text, lines: [] });
    sections.at(-1)?.lines.push(line);
  }
  const rank = (title: string) => (ORDER.includes(title) ? ORDER.indexOf(title) : ORDER.length);
  return sections
    .sort((a, b) => rank(a.title) - rank(b.title))
    .flatMap((section, i): DiffLine[] => [
      ...(i === 0 ? [] : [["", null] as const]),
      ...section.lines.map(
        (line): DiffLine => [line.text === "" ? "" : "  ".repeat(line.level) + line.text, line.status],
      ),
    ]);
}
