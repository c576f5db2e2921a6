import { compareStemcellVersions, sameLine } from "../manifest/versions.ts";
import type { CompiledPackage, CompileKey } from "../releases/model.ts";

/**
 * Returns a substitute for a package without source: the newest one that was compiled with the same packages on another
 * stemcell of the same line.
 */
export function nextBest(key: CompileKey, compiled: readonly CompiledPackage[]): CompiledPackage | undefined {
  return compiled
    .filter(
      (one) =>
        one.packageId === key.packageId &&
        one.dependencyKey === key.dependencyKey &&
        one.stemcellOs === key.stemcellOs &&
        sameLine(one.stemcellVersion, key.stemcellVersion),
    )
    .sort((a, b) => compareStemcellVersions(a.stemcellVersion, b.stemcellVersion))
    .at(-1);
}
