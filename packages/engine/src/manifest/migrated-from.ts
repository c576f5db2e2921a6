import { type Report, shown } from "../documents/problems.ts";
import type { Manifest } from "./model.ts";

const INVALID = 190018;
const UNKNOWN_AZ = 140018;

/** An old name must be gone from the manifest, and go to one group only; so no circle can be. */
export function migrationProblems(report: Report, manifest: Manifest, zones: ReadonlySet<string>): void {
  const current = new Set<string>(manifest.groups.map((group) => group.name));
  const takenBy = new Map<string, string>();
  for (const group of manifest.groups) {
    for (const [i, from] of group.migratedFrom.entries()) {
      const where = `instance_groups[${shown(group.name)}].migrated_from[${i}]`;
      const taken = takenBy.get(from.name);
      // Upstream lets a group name itself, to give its instances a zone.
      if (current.has(from.name) && from.name !== group.name) {
        report.add(
          INVALID,
          `${where}.name`,
          `'${shown(from.name)}' is still an instance group of this manifest`,
          "Remove that group, or this entry.",
        );
      }
      if (taken !== undefined) {
        report.add(
          INVALID,
          `${where}.name`,
          `'${shown(from.name)}' already migrates to '${shown(taken)}'`,
          "Let it migrate to one group only, once.",
        );
      } else takenBy.set(from.name, group.name);
      if (from.az !== undefined && !zones.has(from.az)) {
        report.add(
          UNKNOWN_AZ,
          `${where}.az`,
          `there is no availability zone '${shown(from.az)}' in the cloud config`,
          "Name the zone the old instances are in.",
        );
      }
    }
  }
}
