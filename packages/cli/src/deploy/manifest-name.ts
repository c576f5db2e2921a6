import { DeploymentNotNamed, NotAManifest, OtherDeployment } from "./errors.ts";

/** The deployment a manifest is for. `-d` must say the same: a manifest is easily taken for another. */
export function manifestName(manifest: unknown, path: string, wanted: string | undefined): string {
  const found = nameIn(manifest, path);
  if (wanted === undefined) throw DeploymentNotNamed({ path, name: found });
  if (found !== wanted) throw OtherDeployment({ wanted, found });
  return found;
}

function nameIn(manifest: unknown, path: string): string {
  if (typeof manifest !== "object" || manifest === null || Array.isArray(manifest)) {
    throw NotAManifest({ path, why: "it is no map" });
  }
  const name = "name" in manifest ? manifest.name : undefined;
  if (typeof name === "number") return String(name);
  if (typeof name !== "string" || name === "") throw NotAManifest({ path, why: "it has no `name`" });
  return name;
}

/** Releases the Director would have to be given first, which nobody does yet. */
export function releasesWithUrl(manifest: unknown): readonly string[] {
  const releases = (manifest as { readonly releases?: unknown } | null)?.releases;
  if (!Array.isArray(releases)) return [];
  return releases.flatMap((one: unknown) => {
    const { name, url } = (one ?? {}) as { readonly name?: unknown; readonly url?: unknown };
    return typeof url === "string" && url !== "" ? [String(name)] : [];
  });
}
