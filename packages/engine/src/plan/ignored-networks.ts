import type { Report } from "../documents/problems.ts";
import type { InstanceGroup } from "../manifest/model.ts";
import { activeVm, type InstanceRecord } from "../model/records.ts";
import type { Candidate } from "./candidates.ts";

/** True if the group is to have other networks than the instance has. */
export function networksDiffer(group: InstanceGroup, record: InstanceRecord): boolean {
  const known = activeVm(record)?.networks ?? record.spec?.networks;
  if (known === undefined) return false;
  const asked = new Set(group.networks.map(({ name }) => name));
  const had = Object.keys(known);
  return had.length !== asked.size || had.some((name) => !asked.has(name));
}

/** Reports a group whose networks are changed although it has ignored instances, which would keep the old ones. */
export function refuseIgnoredNetworks(
  group: InstanceGroup,
  candidates: readonly Candidate[],
  report: Report,
): void {
  if (!candidates.some(({ record }) => record.ignore && networksDiffer(group, record))) return;
  report.add(
    190020,
    `instance_groups/${group.name}/networks`,
    `In instance group '${group.name}', which contains ignored vms, an attempt was made to modify the networks. This operation is not allowed`,
    "Leave the networks as they are, or unignore the instances first.",
  );
}
