import type { AgentId, DiskCid, VmCid } from "@slipway/protocol/ids";
import { type CpiName, display, type GroupName, type InstanceUuid } from "./names.ts";

/** Kinds of problems between the records and the cloud, in upstream's names and words. */

export type ProblemType =
  | "missing_vm"
  | "unresponsive_agent"
  | "missing_disk"
  | "inactive_disk"
  | "mount_info_mismatch"
  // Ours: in the cloud, and in no record.
  | "unrecorded_vm"
  | "unrecorded_disk";

export type ResolutionName =
  | "ignore"
  | "reboot_vm"
  | "recreate_vm_without_wait"
  | "recreate_vm"
  | "delete_vm"
  | "delete_vm_reference"
  | "delete_disk_reference"
  | "delete_disk"
  | "activate_disk"
  | "reattach_disk"
  | "reattach_disk_and_reboot"
  | "adopt_vm"
  | "adopt_disk";

/** A problem as a scan finds it. */
export interface FoundProblem {
  readonly type: ProblemType;
  readonly instance: InstanceUuid;
  readonly group: GroupName;
  readonly index: number;
  /** Null: the instance has no VM at all. */
  readonly vm: VmCid | null;
  /** Set for disk problems only. */
  readonly disk: DiskCid | null;
  readonly size: number | null;
  /** VMs that have the disk mounted, as far as their agents said. */
  readonly mountedOn: readonly string[];
  /** Set for resources that no record names. */
  readonly cpi?: CpiName;
  /**
   * Agent of a VM that no record names, as its cloud reports. Over NATS it may then connect, so that the Director can ask for its
   * identity.
   */
  readonly agent?: AgentId;
}

export interface ProblemRecord extends FoundProblem {
  readonly id: number;
}

/** Returns the resource of a problem. A resource has at most one open problem of each type. */
export const resourceOf = ({ type, instance, disk, vm }: FoundProblem): string =>
  disk ?? (type === "unrecorded_vm" ? (vm ?? instance) : instance);

interface Offer {
  readonly resolutions: readonly ResolutionName[];
  /** Taken with `--auto`. */
  readonly byDefault: ResolutionName;
}

export const OFFERS: Readonly<Record<ProblemType, Offer>> = {
  missing_vm: {
    resolutions: ["ignore", "recreate_vm_without_wait", "recreate_vm", "delete_vm_reference"],
    byDefault: "recreate_vm_without_wait",
  },
  unresponsive_agent: {
    resolutions: [
      "ignore",
      "reboot_vm",
      "recreate_vm_without_wait",
      "recreate_vm",
      "delete_vm",
      "delete_vm_reference",
    ],
    byDefault: "ignore",
  },
  missing_disk: { resolutions: ["ignore", "delete_disk_reference"], byDefault: "ignore" },
  inactive_disk: { resolutions: ["ignore", "delete_disk", "activate_disk"], byDefault: "ignore" },
  mount_info_mismatch: {
    resolutions: ["ignore", "reattach_disk", "reattach_disk_and_reboot"],
    byDefault: "ignore",
  },
  unrecorded_vm: { resolutions: ["ignore", "adopt_vm"], byDefault: "ignore" },
  unrecorded_disk: { resolutions: ["ignore", "adopt_disk"], byDefault: "ignore" },
};

const PLANS: Readonly<Record<ResolutionName, string>> = {
  ignore: "Skip for now",
  reboot_vm: "Reboot VM",
  recreate_vm_without_wait: "Recreate VM without waiting for processes to start",
  recreate_vm: "Recreate VM and wait for processes to start",
  delete_vm: "Delete VM",
  delete_vm_reference:
    "Delete VM reference (forceful; may need to manually delete VM from the Cloud to avoid IP conflicts)",
  delete_disk_reference: "Delete disk reference (DANGEROUS!)",
  delete_disk: "Move disk to the orphaned disks",
  activate_disk: "Activate disk",
  reattach_disk: "Reattach disk to instance",
  reattach_disk_and_reboot: "Reattach disk and reboot instance",
  adopt_vm: "Adopt VM: record it as the instance's, if its agent says so",
  adopt_disk: "Adopt disk: record it as the instance's",
};

/** Describes a resolution to the operator who chooses it. */
export const planOf = (type: ProblemType, name: ResolutionName): string =>
  type === "missing_vm" && name === "delete_vm_reference" ? "Delete VM reference" : PLANS[name];

const named = ({ group, instance, index }: FoundProblem): string =>
  `'${display({ group, uuid: instance, index })}'`;

const DESCRIPTIONS: Readonly<Record<ProblemType, (problem: FoundProblem) => string>> = {
  missing_vm: (problem) =>
    problem.vm === null
      ? `VM for ${named(problem)} missing.`
      : `VM for ${named(problem)} with cloud ID '${problem.vm}' missing.`,
  unresponsive_agent: (problem) =>
    `VM for ${named(problem)} with cloud ID '${problem.vm}' is not responding.`,
  missing_disk: ({ disk, group, instance, size }) =>
    `Disk '${disk}' (${group}/${instance}, ${size}M) is missing`,
  inactive_disk: (problem) =>
    `Disk '${problem.disk}' (${problem.size}M) for instance ${named(problem)} is inactive`,
  mount_info_mismatch: ({ disk, vm, mountedOn }) =>
    [
      "Inconsistent mount information:",
      `Record shows that disk '${disk}' should be mounted on ${vm}.`,
      "However it is currently :",
      mountedOn.length === 0 ? "\tNot mounted in any VM" : `\tMounted on: ${mountedOn.join(", ")}`,
    ].join("\n"),
  unrecorded_vm: (problem) =>
    `VM with cloud ID '${problem.vm}' is described as ${named(problem)}, and no record names it.`,
  unrecorded_disk: ({ disk, group, instance, size, mountedOn }) =>
    `Disk '${disk}' (${group}/${instance}, ${size ?? "?"}M) is in no record; ${mountedOn.length === 0 ? "it is attached to no VM" : `it is attached to ${mountedOn.join(", ")}`}`,
};

export const describeProblem = (problem: FoundProblem): string => DESCRIPTIONS[problem.type](problem);
