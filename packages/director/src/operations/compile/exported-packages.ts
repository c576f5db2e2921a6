import { keyText, type NeededPackage } from "@slipway/engine/compile/needed";
import type { CompiledPackage, CompileKey } from "@slipway/engine/releases/model";
import { findCompiled } from "../../store/compiled-packages.ts";
import type { OperationContext } from "../operation.ts";
import { PackagesNotExported } from "./errors.ts";
import { namesLike, releaseAndStemcell } from "./names.ts";

/** Returns the packages of releases with `exported_from`, by the text of their key. One error names all that are missing. */
export async function exportedPackages(
  needed: readonly NeededPackage[],
  { db }: OperationContext,
): Promise<ReadonlyMap<string, CompiledPackage>> {
  const locked = needed.filter(({ exportedFrom }) => exportedFrom.length > 0);
  const there = new Map((await findCompiled(db, locked.flatMap(keysOf))).map((one) => [keyText(one), one]));
  const found = new Map<string, CompiledPackage>();
  const missing: NeededPackage[] = [];
  for (const one of locked) {
    const made = keysOf(one).flatMap((key) => there.get(keyText(key)) ?? [])[0];
    if (made === undefined) missing.push(one);
    else found.set(keyText(one.key), made);
  }
  refuseMissing(missing);
  return found;
}

const keysOf = ({ key, exportedFrom }: NeededPackage): readonly CompileKey[] =>
  exportedFrom.map(({ os, version }) => ({ ...key, stemcellOs: os, stemcellVersion: version }));

function refuseMissing(missing: readonly NeededPackage[]): void {
  const [first] = missing;
  if (first === undefined) return;
  throw PackagesNotExported({
    release: releaseAndStemcell(first).release,
    stemcells: first.exportedFrom.map(({ os, version }) => `${os}/${version}`),
    packages: namesLike(first, missing),
  });
}
