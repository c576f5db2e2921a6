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
