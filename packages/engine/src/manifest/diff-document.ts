import { isObject } from "@slipway/protocol/schema/json";
import { newMap, own } from "../documents/tree.ts";

/**
 * Returns the document that a deployment is diffed as: its manifest (versions resolved) over its cloud configs, their lists
 * joined.
 */
export function diffDocument(manifest: unknown, cloudConfigs: readonly unknown[]): unknown {
  const merged = newMap();
  for (const config of cloudConfigs.filter(isObject)) {
    for (const key of Object.keys(config)) {
      const before = own(merged, key);
      const value = config[key];
      merged[key] = Array.isArray(before) && Array.isArray(value) ? [...before, ...value] : value;
    }
  }
  if (isObject(manifest)) for (const key of Object.keys(manifest)) merged[key] = manifest[key];
  return merged;
}
