import { nearNames } from "@slipway/protocol/near-names";
import { isObject } from "@slipway/protocol/schema/json";
import { shown } from "../documents/problems.ts";
import { own, type Tree } from "../documents/tree.ts";
import { type DocumentKind, KNOWN_KEYS, type KnownKeys } from "./known-keys.ts";

/** Most messages; more would not help. */
const MOST = 20;
/** Longer keys are not misspelled names. */
const LONGEST = 64;
/** Deepest level of the tables, and a little more. */
const DEEPEST = 10;

const TITLES: Readonly<Record<DocumentKind, string>> = {
  manifest: "the manifest",
  cloud: "the cloud config",
  runtime: "the runtime config",
  cpi: "the CPI config",
};

/**
 * Warns about keys that nothing reads. Upstream ignores them, so a manifest that deploys there deploys here, but the operator
 * should learn of a misspelled key.
 */
export function unknownKeys(kind: DocumentKind, document: unknown): readonly string[] {
  const found: string[] = [];
  look(KNOWN_KEYS[kind], document, "", found, 0);
  const said = found.slice(0, MOST).map((what) => `In ${TITLES[kind]}, ${what}`);
  const more = found.length - said.length;
  return more > 0 ? [...said, `In ${TITLES[kind]}, ${more} more keys are not known`] : said;
}

function look(known: KnownKeys, value: unknown, where: string, found: string[], depth: number): void {
  if (depth > DEEPEST) return;
  if (Array.isArray(value)) {
    for (const [at, item] of (value as readonly unknown[]).entries())
      look(known, item, `${where}[${nameOf(item) ?? at}]`, found, depth + 1);
    return;
  }
  if (!isObject(value)) return;
  for (const name of Object.keys(value)) {
    const place = where === "" ? shown(name) : `${where}.${shown(name)}`;
    const key = Object.hasOwn(known, name) ? known[name] : undefined;
    if (key === undefined) found.push(`the key ${place} is not known: nothing reads it.${hint(name, known)}`);
    else if (key.keys !== undefined) look(key.keys, own(value as Tree, name), place, found, depth + 1);
  }
}

const nameOf = (item: unknown): string | undefined => {
  const name = isObject(item) ? own(item, "name") : undefined;
  return typeof name === "string" ? shown(name) : undefined;
};

const hint = (name: string, known: KnownKeys): string => {
  const read = Object.keys(known).filter((one) => known[one]?.verdict === "used");
  const [near] = name.length > LONGEST ? [] : nearNames(name, read);
  return near === undefined ? "" : ` Did you mean ${near}?`;
};
