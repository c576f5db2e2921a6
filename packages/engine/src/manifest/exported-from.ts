import { type Fields, mapsOf } from "../documents/fields.ts";
import { type Report, shown } from "../documents/problems.ts";
import type { ExportedFrom, Manifest } from "./model.ts";
import type { ResolvedStemcell } from "./resolve-stemcells.ts";
import { sameLine } from "./versions.ts";

const MISMATCH = 80015;

/** `exported_from` of an entry of `releases`. */
export const readExportedFrom = (report: Report, release: Fields): readonly ExportedFrom[] =>
  mapsOf(report, release.list("exported_from"), release.at("exported_from"), null).flatMap((entry) => {
    const os = entry.needText("os", "Give the operating system of the stemcell it was exported for.");
    const version = entry.needText("version", "Give the version of the stemcell it was exported for.");
    return os === undefined || version === undefined ? [] : [{ os, version }];
  });

/** Filters the stemcells that instances with this stemcell may use compiled packages of. */
export const suitedTo = (
  exportedFrom: readonly ExportedFrom[],
  stemcell: ExportedFrom,
): readonly ExportedFrom[] =>
  exportedFrom.filter(({ os, version }) => os === stemcell.os && sameLine(version, stemcell.version));

/** Jobs of releases that were exported for stemcells of another line than their group's. */
export function exportedFromProblems(
  { releases, groups }: Manifest,
  stemcells: readonly ResolvedStemcell[],
  report: Report,
): void {
  const locked = new Map(releases.map(({ name, exportedFrom = [] }) => [name, exportedFrom]));
  for (const group of groups)
    for (const job of group.jobs) {
      const exportedFrom = locked.get(job.release) ?? [];
      const found = stemcells.find(({ alias }) => alias === group.stemcell);
      const [record] = found?.records ?? [];
      if (exportedFrom.length === 0 || found === undefined || record === undefined) continue;
      const stemcell = { os: record.operatingSystem, version: found.version };
      if (suitedTo(exportedFrom, stemcell).length > 0) continue;
      const [release, its] = [shown(job.release), text(stemcell)];
      report.add(
        MISMATCH,
        `instance_groups[${shown(group.name)}].jobs[${shown(job.name)}].release`,
        `Invalid release detected in instance group '${shown(group.name)}' using stemcell '${its}': ` +
          `release '${release}' must be exported from stemcell '${its}'. ` +
          `Release '${release}' is exported from: ${exportedFrom.map((one) => `'${text(one)}'`).join(", ")}.`,
        "Name in exported_from a stemcell of the group's line that the release was compiled for, or take exported_from out.",
      );
    }
}

const text = ({ os, version }: ExportedFrom): string => `${shown(os)}/${shown(version)}`;
