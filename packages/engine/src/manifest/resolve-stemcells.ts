import { isObject } from "@slipway/protocol/schema/json";
import type { PlanProblem } from "../documents/problems.ts";
import { newReport, type Report, shown } from "../documents/problems.ts";
import { own } from "../documents/tree.ts";
import type { StemcellRecord } from "../model/records.ts";
import type { Manifest, ManifestStemcell } from "./model.ts";
import { candidates, compareStemcellVersions, isRelative } from "./versions.ts";

export interface ResolvedStemcell {
  readonly alias: string;
  readonly version: string;
  /** The rows of all CPIs, by name. */
  readonly records: readonly StemcellRecord[];
}

export type ResolvedStemcells =
  | { readonly ok: true; readonly stemcells: readonly ResolvedStemcell[] }
  | { readonly ok: false; readonly problems: readonly PlanProblem[] };

const NOT_FOUND = 50003;

/** Finds the uploaded stemcells that the manifest means, in the order of the manifest. */
export function resolveStemcells(
  wanted: Manifest["stemcells"],
  uploaded: readonly StemcellRecord[],
): ResolvedStemcells {
  const report = newReport();
  const stemcells = wanted.flatMap((one) => resolve(report, one, uploaded));
  return report.problems.length > 0 ? { ok: false, problems: report.problems } : { ok: true, stemcells };
}

function resolve(
  report: Report,
  wanted: ManifestStemcell,
  uploaded: readonly StemcellRecord[],
): readonly ResolvedStemcell[] {
  const rows = uploaded.filter((row) =>
    wanted.os === undefined ? row.name === wanted.name : row.operatingSystem === wanted.os,
  );
  const version = chooseVersion(wanted.version, [...new Set(rows.map((row) => row.version))]);
  if (version !== undefined) {
    const records = rows
      .filter((row) => row.version === version)
      .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.id - b.id));
    return [{ alias: wanted.alias, version, records }];
  }
  const what = wanted.os === undefined ? `name '${shown(wanted.name)}'` : `os '${shown(wanted.os)}'`;
  const there = [...new Set(rows.map((row) => row.version))].sort(compareStemcellVersions).slice(-5);
  report.add(
    NOT_FOUND,
    `stemcells[${shown(wanted.alias)}]`,
    `no uploaded stemcell has the ${what} and the version '${shown(wanted.version)}'`,
    there.length === 0
      ? "Upload it with bosh upload-stemcell, or correct the name (bosh stemcells lists what is there)."
      : `Upload it with bosh upload-stemcell, or use one that is there: ${there.map(shown).join(", ")}.`,
  );
  return [];
}

/**
 * The uploaded version that is meant. One that is only written otherwise (`1` for `1.0`, which is what becomes of an
 * unquoted 1.0 on its way through the CLI) is taken when nothing matches to the letter.
 */
function chooseVersion(wanted: string, versions: readonly string[]): string | undefined {
  if (isRelative(wanted)) {
    return candidates(wanted, versions).reduce<string | undefined>(
      (best, one) => (best === undefined || compareStemcellVersions(one, best) > 0 ? one : best),
      undefined,
    );
  }
  return (
    versions.find((one) => one === wanted) ??
    versions.find((one) => compareStemcellVersions(one, wanted) === 0)
  );
}

/** Reads the stemcells of a raw manifest that may have any mistake. */
export function stemcellsIn(manifest: unknown): readonly ManifestStemcell[] {
  const entries: unknown = isObject(manifest) ? own(manifest, "stemcells") : undefined;
  return (Array.isArray(entries) ? (entries as readonly unknown[]) : []).filter(isObject).map((entry) => ({
    alias: String(entry.alias),
    os: typeof entry.os === "string" ? entry.os : undefined,
    name: typeof entry.name === "string" ? entry.name : undefined,
    version: String(entry.version),
  }));
}

/** The raw manifest with the versions put in, as diffs show it. Leaves alone what it does not understand. */
export function withResolvedVersions(value: unknown, resolved: readonly ResolvedStemcell[]): unknown {
  const stemcells = isObject(value) ? own(value, "stemcells") : undefined;
  if (!isObject(value) || !Array.isArray(stemcells)) return value;
  const versions = new Map(resolved.map((one) => [one.alias, one.version]));
  return {
    ...value,
    stemcells: stemcells.map((entry: unknown) => {
      const alias = isObject(entry) ? own(entry, "alias") : undefined;
      const version = versions.get(typeof alias === "number" ? String(alias) : (alias as string));
      return isObject(entry) && version !== undefined ? { ...entry, version } : entry;
    }),
  };
}
