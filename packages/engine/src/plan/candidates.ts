import type { Report } from "../documents/problems.ts";
import type { InstanceGroup, Manifest } from "../manifest/model.ts";
import type { InstanceRecord } from "../model/records.ts";

/** An instance that exists and may serve in a group. */
export interface Candidate {
  readonly record: InstanceRecord;
  /** Its zone; for migrated ones possibly the one the manifest says it is in. */
  readonly az: string | null;
}

export interface Candidates {
  /** Instances of the group itself, then those it migrates from in the order of its list; each by index, then id. */
  readonly byGroup: ReadonlyMap<string, readonly Candidate[]>;
  /** Instances of groups that the manifest neither has nor migrates from. */
  readonly obsolete: readonly InstanceRecord[];
}

export function findCandidates(
  manifest: Manifest,
  instances: readonly InstanceRecord[],
  report: Report,
): Candidates {
  const byName = new Map<string, InstanceRecord[]>();
  for (const instance of instances) {
    const list = byName.get(instance.group);
    if (list === undefined) byName.set(instance.group, [instance]);
    else list.push(instance);
  }
  for (const list of byName.values()) list.sort((a, b) => a.index - b.index || compare(a.uuid, b.uuid));
  const names = new Set<string>(manifest.groups.map((group) => group.name));
  const movedTo = new Map<string, string>();
  const byGroup = new Map<string, readonly Candidate[]>();
  for (const group of manifest.groups) {
    const found: Candidate[] = (byName.get(group.name) ?? []).map((record) => ({ record, az: record.az }));
    for (const from of group.migratedFrom) {
      if (from.name === group.name) continue;
      const where = `instance_groups/${group.name}/migrated_from`;
      const begin = `Failed to migrate instance group '${from.name}' to '${group.name}'.`;
      if (names.has(from.name)) {
        report.add(
          190018,
          where,
          `${begin} A deployment can not migrate an instance group and also specify it`,
          `Remove the instance group '${from.name}', or the migrated_from entry.`,
        );
      } else if ((movedTo.get(from.name) ?? group.name) !== group.name) {
        report.add(
          190018,
          where,
          `${begin} An instance group may be migrated to only one instance group`,
          `Keep the migrated_from entry of '${movedTo.get(from.name)}' only, or this one.`,
        );
      } else {
        movedTo.set(from.name, group.name);
        for (const record of byName.get(from.name) ?? [])
          found.push({ record, az: migratedZone(group, from, record, where, report) });
      }
    }
    byGroup.set(group.name, found);
  }
  const obsolete = instances.filter(({ group }) => !names.has(group) && !movedTo.has(group));
  return { byGroup, obsolete };
}

function migratedZone(
  group: InstanceGroup,
  from: InstanceGroup["migratedFrom"][number],
  record: InstanceRecord,
  where: string,
  report: Report,
): string | null {
  const begin = `Failed to migrate instance group '${from.name}' to '${group.name}',`;
  if (record.az !== null && from.az !== undefined && from.az !== record.az)
    report.add(
      190018,
      where,
      `${begin} '${from.name}' belongs to availability zone '${record.az}' and manifest specifies '${from.az}'`,
      `Leave az out, or name '${record.az}'.`,
    );
  if (record.az === null && from.az === undefined && group.azs !== undefined)
    report.add(
      190018,
      where,
      `${begin} availability zone of '${from.name}' is not specified`,
      `Say in which zone its VMs are: migrated_from: [{name: ${from.name}, az: ...}].`,
    );
  return record.az ?? from.az ?? null;
}

export const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
