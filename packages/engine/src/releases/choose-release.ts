import { normalVersion } from "@slipway/protocol/release/release-mf";
import { type PlanProblem, shown } from "../documents/problems.ts";
import { VERSION_FIX, versionConflict } from "../manifest/apply-addons.ts";
import type { ManifestRelease } from "../manifest/model.ts";
import { candidates, compareVersions, isRelative } from "../manifest/versions.ts";

type Wanted = Pick<ManifestRelease, "name" | "version">;

const NO_RELEASE = 30005;
const NO_VERSION = 30006;
const OTHER_VERSION = 530003;

/** Finds the uploaded version that the manifest means; `latest` and `1.latest` mean the newest that fits. */
export function chooseRelease(
  { name, version, runtimeVersion }: ManifestRelease,
  uploaded: readonly string[],
): Wanted | PlanProblem {
  const where = `releases[${shown(name)}]`;
  const next =
    "Upload it with bosh upload-release, or correct the manifest (bosh releases lists what is there).";
  if (uploaded.length === 0)
    return { code: NO_RELEASE, where, problem: `Release '${shown(name)}' doesn't exist`, fix: next };
  const chosen = isRelative(version)
    ? [...candidates(version, uploaded)].sort(compareVersions).at(-1)
    : uploaded.find((one) => one === normalVersion(version));
  if (chosen !== undefined && runtimeVersion !== undefined && normalVersion(runtimeVersion) !== chosen)
    return {
      code: OTHER_VERSION,
      where,
      problem: versionConflict(name, runtimeVersion, chosen),
      fix: VERSION_FIX,
    };
  if (chosen !== undefined) return { name, version: chosen };
  const there = [...uploaded].sort(compareVersions).slice(-5).map(shown).join(", ");
  return {
    code: NO_VERSION,
    where,
    problem: `Release version '${shown(name)}/${shown(version)}' doesn't exist`,
    fix: `Upload it with bosh upload-release, or use one that is there: ${there}.`,
  };
}
