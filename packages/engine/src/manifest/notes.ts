import { isObject } from "@slipway/protocol/schema/json";
import { own } from "../documents/tree.ts";
import type { DeployDocuments } from "./deploy-problems.ts";
import { unknownKeys } from "./unknown-keys.ts";

/** Messages of a deploy about documents that have no mistakes. */
export interface Notes {
  readonly warnings: readonly string[];
  /** In upstream's words. */
  readonly deprecations: readonly string[];
}

export function notesOn({
  manifest,
  cloudConfigs,
  runtimeConfigs,
  cpiConfigs,
}: Pick<DeployDocuments, "manifest" | "cloudConfigs" | "runtimeConfigs"> & {
  readonly cpiConfigs: readonly unknown[];
}): Notes {
  const warnings = [
    ...unknownKeys("manifest", manifest),
    ...cloudConfigs.flatMap((config) => unknownKeys("cloud", config)),
    ...runtimeConfigs.flatMap((config) => unknownKeys("runtime", config)),
    ...cpiConfigs.flatMap((config) => unknownKeys("cpi", config)),
  ];
  const global = has(manifest, "properties")
    ? ["Global 'properties' are deprecated. Please define 'properties' at the job level."]
    : [];
  const old = "Top level 'properties' in addons are deprecated. Please define 'properties' at the job level.";
  const ofAddons = [manifest, ...runtimeConfigs].flatMap((document) =>
    addonsOf(document).flatMap((addon) => (has(addon, "properties") ? [old] : [])),
  );
  return { warnings, deprecations: [...global, ...new Set(ofAddons)] };
}

const has = (value: unknown, key: string): boolean => isObject(value) && own(value, key) !== undefined;

function addonsOf(document: unknown): readonly unknown[] {
  const addons = isObject(document) ? own(document, "addons") : undefined;
  return Array.isArray(addons) ? (addons as readonly unknown[]) : [];
}
