import { createHash } from "node:crypto";
import { dependenciesFirst } from "./package-order.ts";

interface Depending {
  readonly name: string;
  readonly version: string;
  readonly dependencies: readonly string[];
}

/** Longer ones are kept as their digest: packages that share much of what they need would make them grow without end. */
const LONGEST = 1024;

/**
 * For each package of a release, by name: what it is compiled with, as `[["golang","c0de"],["lib","beef",[...]]]`, direct
 * dependencies by name, with theirs inside; `[]` without any. Fails for packages that need each other.
 */
export function dependencyKeys(packages: readonly Depending[]): ReadonlyMap<string, string> {
  const keys = new Map<string, string>();
  const parts = new Map<string, string>();
  for (const { name, version, dependencies } of dependenciesFirst(packages)) {
    const inside = [...new Set(dependencies)].sort().flatMap((one) => parts.get(one) ?? []);
    const key = `[${inside.join(",")}]`;
    keys.set(name, key.length <= LONGEST ? key : digest(key));
    const id = `${JSON.stringify(name)},${JSON.stringify(version)}`;
    const part = inside.length === 0 ? `[${id}]` : `[${id},${key}]`;
    parts.set(name, part.length <= LONGEST ? part : JSON.stringify(digest(part)));
  }
  return keys;
}

const digest = (text: string): string => `sha256:${createHash("sha256").update(text).digest("hex")}`;
