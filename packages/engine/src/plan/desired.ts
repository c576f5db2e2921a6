import type { JsonObject } from "@slipway/protocol/schema/json";
import type { Report } from "../documents/problems.ts";
import type { CloudConfig, InstanceGroup, Manifest } from "../manifest/model.ts";
import type { ResolvedStemcell } from "../manifest/resolve-stemcells.ts";
import type { DesiredInstance, NamedDisk } from "../model/goal.ts";
import type { CpiName } from "../model/names.ts";
import type { StemcellRecord } from "../model/records.ts";
import { cpisByZone } from "./cpis.ts";
import type { PlanInput } from "./model.ts";
import { rowFor } from "./stemcells.ts";

/** Properties that all instances of a group in one zone share, in one object: 10,000 instances share a few. */
export interface InstanceTemplate {
  readonly cpi: CpiName;
  readonly stemcell: StemcellRecord;
  readonly cloudProperties: JsonObject;
  readonly vmResources: InstanceGroup["vmResources"];
  readonly vmType: string | null;
  readonly env: JsonObject;
  readonly tags: JsonObject;
  readonly persistentDisk: DesiredInstance["persistentDisk"];
  readonly namedDisks: readonly NamedDisk[];
}

/** Instance templates by group and zone, each made once. Undefined: something it names does not exist; the report says what. */
export function instanceTemplates(
  { manifest, cloudConfig, cpis }: Pick<PlanInput, "manifest" | "cloudConfig" | "cpis">,
  sets: ReadonlyMap<string, ResolvedStemcell>,
  report: Report,
): (group: InstanceGroup, az: string | null) => InstanceTemplate | undefined {
  const made = new Map<InstanceGroup, Map<string | null, InstanceTemplate | undefined>>();
  const cpiOf = cpisByZone(cpis, report);
  return (group, az) => {
    const zones = made.get(group) ?? new Map<string | null, InstanceTemplate | undefined>();
    made.set(group, zones);
    if (!zones.has(az))
      zones.set(az, makeInstanceTemplate(manifest, cloudConfig, cpiOf, sets, group, az, report));
    return zones.get(az);
  };
}

function makeInstanceTemplate(
  manifest: Manifest,
  cloudConfig: CloudConfig,
  cpiOf: ReturnType<typeof cpisByZone>,
  sets: ReadonlyMap<string, ResolvedStemcell>,
  group: InstanceGroup,
  az: string | null,
  report: Report,
): InstanceTemplate | undefined {
  const where = `instance_groups/${group.name}`;
  const find = <T extends { readonly name: string }>(
    list: readonly T[],
    name: string,
    code: number,
    problem: string,
  ): T | undefined => {
    const found = list.find((one) => one.name === name);
    if (found === undefined)
      report.add(code, where, problem, "Add it to the cloud config, or name one that is there.");
    return found;
  };
  const zone =
    az === null
      ? undefined
      : find(cloudConfig.azs, az, 140018, `Instance group '${group.name}' references unknown az '${az}'`);
  const type =
    group.vmType === undefined
      ? undefined
      : find(
          cloudConfig.vmTypes,
          group.vmType,
          140004,
          `Instance group '${group.name}' references an unknown vm type '${group.vmType}'`,
        );
  const extensions = group.vmExtensions.map((name) =>
    find(
      cloudConfig.vmExtensions,
      name,
      140004,
      `The vm_extension '${name}' has not been configured in cloud-config`,
    ),
  );
  const cpi = zone === undefined ? "" : cpiOf(zone);
  const set = sets.get(group.stemcell);
  if (set === undefined && !manifest.stemcells.some(({ alias }) => alias === group.stemcell))
    report.add(
      140005,
      `${where}/stemcell`,
      `Instance group '${group.name}' references unknown stemcell '${group.stemcell}'`,
      "Name an alias of the manifest's stemcells.",
    );
  const stemcell = set && cpi !== undefined ? rowFor(set, cpi, `${where}/stemcell`, report) : undefined;
  const persistentDisk = diskOf(group, cloudConfig, report);
  const namedDisks = namedDisksOf(group, cloudConfig, report);
  if (cpi === undefined || stemcell === undefined || persistentDisk === undefined || namedDisks === undefined)
    return undefined;
  return {
    cpi,
    stemcell,
    // Later ones win as a whole: what is nested is replaced, not merged.
    cloudProperties: Object.fromEntries(
      [zone, type, ...extensions].flatMap((one) => Object.entries(one?.cloudProperties ?? {})),
    ),
    vmResources: group.vmResources,
    vmType: group.vmType ?? null,
    env: group.env,
    tags: { ...manifest.tags, ...group.tags },
    persistentDisk,
    namedDisks,
  };
}

function diskOf(
  group: InstanceGroup,
  cloudConfig: CloudConfig,
  report: Report,
): DesiredInstance["persistentDisk"] | undefined {
  const asked = group.persistentDisk;
  if (asked === undefined) return null;
  if ("size" in asked) return asked.size > 0 ? { size: asked.size, cloudProperties: {} } : null;
  const type = cloudConfig.diskTypes.find(({ name }) => name === asked.type);
  if (type === undefined) {
    report.add(
      140012,
      `instance_groups/${group.name}/persistent_disk_type`,
      `Instance group '${group.name}' references an unknown disk type '${asked.type}'`,
      "Add it to the cloud config's disk_types, or name one that is there.",
    );
    return undefined;
  }
  return type.size > 0 ? { size: type.size, cloudProperties: type.cloudProperties } : null;
}

function namedDisksOf(
  { name: group, persistentDisks = [] }: InstanceGroup,
  cloudConfig: CloudConfig,
  report: Report,
): readonly NamedDisk[] | undefined {
  const disks = persistentDisks.map(({ name, type }) => ({
    name,
    type,
    found: cloudConfig.diskTypes.find((one) => one.name === type),
  }));
  for (const { type, found } of disks)
    if (found === undefined)
      report.add(
        140012,
        `instance_groups/${group}/persistent_disks`,
        `Instance group '${group}' persistent_disks's section references an unknown disk type '${type}'`,
        "Add it to the cloud config's disk_types, or name one that is there.",
      );
  if (disks.some(({ found }) => found === undefined)) return undefined;
  return disks.flatMap(({ name, found }) =>
    found === undefined || found.size === 0
      ? []
      : [{ name, size: found.size, cloudProperties: found.cloudProperties }],
  );
}
