import { kindOf, newMap, type Tree } from "@slipway/engine/manifest/tree";
import { parseYaml } from "@slipway/engine/manifest/yaml";
import { DirectorError } from "@slipway/engine/model/director-error";
import { messageTrail } from "@slipway/kernel/errors";
import { isObject } from "@slipway/protocol/schema/json";

/** YAML text that must be a map; `code` is the number of the refusal. */
export function yamlMap(text: string, what: string, code: number): Tree {
  if (text.trim() === "") throw new DirectorError(code, `${what} is empty`);
  let value: unknown;
  try {
    value = parseYaml(text, what);
  } catch (cause) {
    throw new DirectorError(code, messageTrail(cause), { cause });
  }
  if (isObject(value)) return value;
  throw new DirectorError(code, `${what} must be a map of keys to values, not ${kindOf(value)}`);
}

/** For comparisons only: what cannot be read any more counts as empty. */
export function looseMap(text: string | null | undefined): Tree {
  try {
    const value = text ? parseYaml(text, "the document") : undefined;
    return isObject(value) ? value : newMap();
  } catch {
    return newMap();
  }
}

/** A manifest with its configs, as a deploy sees them: lists one after the other, of everything else the last. */
export function mergeDocuments(documents: readonly Tree[]): Tree {
  const merged = newMap();
  for (const document of documents) {
    for (const [key, value] of Object.entries(document)) {
      const before = merged[key];
      merged[key] = Array.isArray(before) && Array.isArray(value) ? [...before, ...value] : value;
    }
  }
  return merged;
}
