import type { UnpackedPackage } from "@slipway/engine/releases/archive";
import { PackageCycle, PackageUnknown } from "../errors.ts";

/** These packages and all that they are compiled with, each after what it needs. */
export function packageOrder(
  wanted: readonly string[],
  all: readonly UnpackedPackage[],
): readonly UnpackedPackage[] {
  const byName = new Map(all.map((one) => [one.name, one]));
  const order: UnpackedPackage[] = [];
  const done = new Set<string>();
  const visit = (name: string, above: readonly string[]): void => {
    if (above.includes(name)) throw PackageCycle({ names: [...above.slice(above.indexOf(name)), name] });
    if (done.has(name)) return;
    const found = byName.get(name);
    if (found === undefined) throw PackageUnknown({ name });
    for (const dependency of found.dependencies) visit(dependency, [...above, name]);
    done.add(name);
    order.push(found);
  };
  for (const name of [...new Set(wanted)].sort()) visit(name, []);
  return order;
}
