import { newReport, type PlanProblem } from "../documents/problems.ts";
import type { StemcellRecord } from "../model/records.ts";
import { applyAddons } from "./apply-addons.ts";
import { parseCloudConfig } from "./cloud-config.ts";
import { parseManifest } from "./deployment.ts";
import { exportedFromProblems } from "./exported-from.ts";
import type { ManagedNetworks } from "./managed-subnets.ts";
import type { CloudConfig, Manifest } from "./model.ts";
import { referenceProblems } from "./references.ts";
import { type ResolvedStemcells, resolveStemcells } from "./resolve-stemcells.ts";
import { readRuntimeConfigs } from "./runtime-config.ts";

/** Documents of a deploy, as read. */
export interface DeployDocuments {
  readonly manifest: unknown;
  readonly cloudConfigs: readonly unknown[];
  readonly runtimeConfigs: readonly unknown[];
  readonly stemcells: readonly StemcellRecord[];
  /** Teams of the deployment: addons may be for some teams only. */
  readonly teams?: readonly string[] | undefined;
  /** Networks that CPIs have made; undefined: this Director has none made. */
  readonly managedNetworks?: ManagedNetworks | undefined;
  /** Subnets may be without a gateway. */
  readonly ignoreMissingGateway?: boolean | undefined;
}

/** The manifest has the jobs of addons in its groups, and their releases. */
export type CheckedDeploy =
  | { readonly ok: true; readonly manifest: Manifest; readonly cloudConfig: CloudConfig }
  | { readonly ok: false; readonly what: string; readonly problems: readonly PlanProblem[] };

/** Every mistake that can be found without asking anybody, each once, those of the manifest's form first. */
export function checkDeploy(given: DeployDocuments): CheckedDeploy {
  const parsed = parseManifest(given.manifest);
  const config = parseCloudConfig(given.cloudConfigs, given.managedNetworks, given.ignoreMissingGateway);
  const manifest = parsed.ok ? parsed.manifest : parsed.partly;
  const cloudConfig = config.ok ? config.cloudConfig : config.partly;
  const found: [what: string, problems: readonly PlanProblem[]][] = [
    ["the manifest is not valid", parsed.ok ? [] : parsed.problems],
    ["the cloud config is not valid", config.ok ? [] : config.problems],
  ];
  let applied = manifest;
  if (manifest !== undefined) {
    // Of a cloud config that cannot be read whole it is not known what is missing.
    const references = config.ok ? referenceProblems(manifest, cloudConfig) : [];
    const stemcells = resolveStemcells(manifest.stemcells, given.stemcells);
    found.push(["manifest and cloud config do not fit", references]);
    const report = newReport();
    const runtime = readRuntimeConfigs(report, given.runtimeConfigs);
    const os = systemsOf(manifest, stemcells);
    applied = applyAddons(manifest, runtime, { teams: given.teams ?? [], os }, report);
    found.push(["the runtime config cannot be applied", report.problems]);
    const exported = newReport();
    if (stemcells.ok) exportedFromProblems(applied, stemcells.stemcells, exported);
    found.push(["this cannot be deployed", exported.problems]);
    found.push(["this cannot be deployed", stemcells.ok ? [] : stemcells.problems]);
  }
  const kinds = found.filter(([, problems]) => problems.length > 0);
  const problems = onceEach(kinds.flatMap(([, some]) => some));
  if (parsed.ok && config.ok && applied !== undefined && problems.length === 0)
    return { ok: true, manifest: applied, cloudConfig: config.cloudConfig };
  const [first] = kinds;
  return { ok: false, what: kinds.length === 1 && first ? first[0] : "this cannot be deployed", problems };
}

/** Returns the operating systems by stemcell alias. For a stemcell named by `name`, the uploaded one decides. */
function systemsOf({ stemcells }: Manifest, resolved: ResolvedStemcells): ReadonlyMap<string, string> {
  const systems = new Map<string, string>();
  if (resolved.ok)
    for (const { alias, records } of resolved.stemcells)
      for (const { operatingSystem } of records) systems.set(alias, operatingSystem);
  for (const { alias, os } of stemcells) if (os !== undefined) systems.set(alias, os);
  return systems;
}

/** The first at each place: what follows from it is no mistake of its own. */
function onceEach(problems: readonly PlanProblem[]): readonly PlanProblem[] {
  const seen = new Set<string>();
  return problems.filter(({ where, problem }) => {
    const key = where === "" ? problem : where;
    if (seen.has(key)) return false;
    // Without their number it is not known how many addresses the instances of a group need.
    const group = where.slice(0, where.indexOf("].") + 1);
    if (where.endsWith(".static_ips") && seen.has(`${group}.instances`)) return false;
    seen.add(key);
    return true;
  });
}
