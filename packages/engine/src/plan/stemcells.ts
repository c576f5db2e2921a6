import type { Report } from "../documents/problems.ts";
import type { Manifest } from "../manifest/model.ts";
import { type ResolvedStemcell, resolveStemcells } from "../manifest/resolve-stemcells.ts";
import type { CpiName } from "../model/names.ts";
import type { StemcellRecord } from "../model/records.ts";

/** The stemcells of the manifest by alias, each with its rows of all CPIs. */
export function stemcellsByAlias(
  manifest: Manifest,
  uploaded: readonly StemcellRecord[],
  report: Report,
): ReadonlyMap<string, ResolvedStemcell> {
  const resolved = resolveStemcells(manifest.stemcells, uploaded);
  if (resolved.ok) return new Map(resolved.stemcells.map((one) => [one.alias, one]));
  for (const { code, where, problem, fix } of resolved.problems) report.add(code, where, problem, fix);
  return new Map();
}

/** Returns the record of a stemcell for a CPI. Of several stemcells of one operating system, the first by name is used. */
export function rowFor(
  { records, version }: ResolvedStemcell,
  cpi: CpiName,
  where: string,
  report: Report,
): StemcellRecord | undefined {
  const row = records.find((one) => one.cpi === cpi);
  if (row === undefined)
    report.add(
      50003,
      where,
      `Required stemcell {"name"=>"${records[0]?.name ?? ""}", "version"=>"${version}"} not found for ${cpi === "" ? "default cpi" : `cpi ${cpi}`}, please upload again`,
      "Run upload-stemcell once more: it goes to the CPIs that do not have it yet. With a CPI config it goes to the CPIs of that, so that instance groups need azs.",
    );
  return row;
}
