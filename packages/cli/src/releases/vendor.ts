import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { exists } from "@slipway/kernel/files";
import type { BuiltResource } from "./built-release.ts";
import { NoSuchPackage, PartThere } from "./errors.ts";
import { lastBuilt } from "./last-built.ts";
import { yamlFile } from "./read-yaml.ts";
import { finalize, type ReleaseDirectory } from "./release-directory.ts";

/** Puts a package of another release into this one, with all it is compiled with: their archives, not their source. */
export async function vendorPackage(
  from: ReleaseDirectory,
  to: ReleaseDirectory,
  name: string,
  prefix: string | undefined,
): Promise<void> {
  const { packages } = await lastBuilt(from);
  const wanted = withDependencies(packages, name);
  if (wanted === undefined) throw NoSuchPackage({ name, dir: from.dir });
  const called = (one: string) => (prefix ? `${prefix}-${one}` : one);
  const renamed = wanted.map((one) => ({ ...one, name: called(one.name), needs: one.needs.map(called) }));
  for (const one of renamed) {
    const path = join(to.dir, "packages", one.name);
    if (await exists(join(path, "spec"))) throw PartThere({ kind: "Package", name: one.name, path });
  }
  for (const one of renamed) await finalize(to, "package", one);
  for (const { name: as, fingerprint, needs } of renamed) {
    const path = join(to.dir, "packages", as);
    await rm(path, { recursive: true, force: true });
    await mkdir(path, { recursive: true });
    const lock = { name: as, fingerprint, ...(needs.length > 0 && { dependencies: needs }) };
    await writeFile(join(path, "spec.lock"), yamlFile(lock));
  }
}

function withDependencies(
  packages: readonly BuiltResource[],
  name: string,
): readonly BuiltResource[] | undefined {
  const found = new Map<string, BuiltResource>();
  const visit = (one: string) => {
    const resource = packages.find((other) => other.name === one);
    if (resource === undefined || found.has(one)) return;
    found.set(one, resource);
    resource.needs.forEach(visit);
  };
  visit(name);
  return found.size === 0 ? undefined : [...found.values()];
}
