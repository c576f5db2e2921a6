import { cpiText } from "@slipway/engine/model/names";
import { defineError } from "@slipway/kernel/errors";

/** Every failure of operations, with upstream's numbers. DIO-00x tasks, 01x deploys, 02x disks and stemcells, 03x cloud-check. */

export const ParamsUnreadable = defineError<{ task: number; problems: string }>({
  code: "DIO-001",
  kind: "bug",
  message: (p) => `task ${p.task} was queued with parameters that cannot be read: ${p.problems}`,
  next: "It was written by another version of the Director. Run the command again.",
});

export const NoDeploymentNamed = defineError<{ task: number }>({
  code: "DIO-003",
  kind: "bug",
  number: 70000,
  message: (p) => `task ${p.task} was queued without the name of its deployment`,
  next: "Run the command again, and report this if it happens again.",
});

export const DeploymentGone = defineError<{ deployment: string }>({
  code: "DIO-004",
  kind: "operator",
  number: 70000,
  message: (p) => `Deployment '${p.deployment}' doesn't exist`,
  next: "`bosh deployments` lists them.",
});

export const InstanceGone = defineError<{ deployment: string; instance: string }>({
  code: "DIO-005",
  kind: "operator",
  number: 70001,
  status: 404,
  message: (p) => `'${p.deployment}/${p.instance}' doesn't exist`,
  next: "`bosh -d {deployment} instances` lists them.",
});

export const OtherDeployment = defineError<{ named: string; deployment: string }>({
  code: "DIO-010",
  kind: "operator",
  number: 440001,
  message: (p) => `the manifest is of deployment '${p.named}', not '${p.deployment}'`,
  next: "Run `bosh -d {named} deploy`, or correct the manifest's `name`.",
});

export const NotVersioned = defineError<{ name: string; deployment: string }>({
  code: "DIO-019",
  kind: "operator",
  number: 540008,
  message: (p) => `Expected variable '${p.name}' to be already versioned in deployment '${p.deployment}'`,
  next: "Deploy first: `bosh -d {deployment} deploy` takes the versions that are used from then on.",
});

export const ConfigsGone = defineError<{ ids: readonly number[] }>({
  code: "DIO-011",
  kind: "operator",
  number: 190025,
  message: (p) =>
    `the deploy was asked for with configs that are not there: no config with id ${p.ids.join(", ")}`,
  next: "Run `bosh deploy` again. `bosh configs` lists those that are there.",
});

export const NoCloudConfig = defineError<Record<never, never>>({
  code: "DIO-012",
  kind: "operator",
  number: 440001,
  message: () => "there is no cloud config",
  next: "Run `bosh update-cloud-config` first.",
});

export const NothingDeployed = defineError<{ deployment: string }>({
  code: "DIO-013",
  kind: "operator",
  number: 70000,
  message: (p) =>
    `deployment '${p.deployment}' has never been deployed to its end: there is no manifest to go by`,
  next: "Run `bosh -d {deployment} deploy`; with --fix it replaces VMs that are gone or silent.",
});

export const HasIgnored = defineError<{ deployment: string; instances: readonly string[] }>({
  code: "DIO-014",
  kind: "operator",
  number: 190021,
  message: (p) =>
    `You are trying to delete deployment '${p.deployment}', which contains ignored instance(s). Operation not allowed. Ignored: ${p.instances.join(", ")}`,
  next: "Run `bosh -d {deployment} unignore` for each of them first.",
});

export const CannotStop = defineError<{ deployment: string; instance: string; why: string }>({
  code: "DIO-015",
  kind: "outside",
  number: 450002,
  message: (p) => `the agent of ${p.instance} does not answer: ${p.why}`,
  next: "With `bosh -d {deployment} delete-deployment --force` its VM is deleted without being stopped.",
});

export const VariableOfAnotherTeam = defineError<{ name: string; owner: string }>({
  code: "DIO-016",
  kind: "operator",
  number: 540002,
  message: (p) =>
    `Variable '${p.name}' belongs to deployment '${p.owner}', which has no team in common with this deployment`,
  next: "Share it by a link, or keep it under a name that belongs to no deployment, such as /shared/NAME. Nothing was changed.",
});

export const DiskNotInCloud = defineError<{ cid: string; instance: string }>({
  code: "DIO-020",
  kind: "operator",
  number: 520001,
  message: (p) => `the cloud has no disk '${p.cid}': ${p.instance} keeps what it has`,
  next: "Run `bosh attach-disk` again with the cid of a disk that the cloud has.",
});

export const DiskElsewhere = defineError<{ cid: string; cpi: string; instance: string; its: string }>({
  code: "DIO-080",
  kind: "operator",
  message: (p) =>
    `the disk '${p.cid}' is with ${cpiText(p.cpi)}, and ${p.instance} with ${cpiText(p.its)}: it keeps what it has`,
  next: "Attach it to an instance of its own CPI. If both are the same cloud, say so with migrated_from in the CPI config.",
});

export const SeveralHave = defineError<{ cid: string; cpis: readonly string[] }>({
  code: "DIO-081",
  kind: "operator",
  message: (p) =>
    `several CPIs know '${p.cid}', and no record says which is meant: ${p.cpis.map(cpiText).join(", ")}`,
  next: "Do it in the cloud that is meant. Nothing was done.",
});

interface ForDisk {
  readonly deployment: string;
  /** `group/id`, as commands take it. */
  readonly instance: string;
}

export const InstanceIgnored = defineError<ForDisk>({
  code: "DIO-021",
  kind: "operator",
  number: 520003,
  message: (p) => `Instance '${p.instance}' in deployment '${p.deployment}' is in 'ignore' state`,
  next: "Run `bosh -d {deployment} unignore {instance}` first.",
});

export const InstanceStarted = defineError<ForDisk>({
  code: "DIO-022",
  kind: "operator",
  number: 520003,
  message: (p) => `Instance '${p.instance}' in deployment '${p.deployment}' must be in 'bosh stopped' state`,
  next: "Run `bosh -d {deployment} stop {instance}` first.",
});

export const DiskOfStarted = defineError<ForDisk & { cid: string }>({
  code: "DIO-024",
  kind: "operator",
  number: 520002,
  message: (p) =>
    `disk '${p.cid}' is in use by ${p.instance} of deployment '${p.deployment}', which is started`,
  next: "Run `bosh -d {deployment} stop {instance}` first.",
});

export const NoSuchStemcell = defineError<{ name: string; version: string }>({
  code: "DIO-025",
  kind: "operator",
  number: 50003,
  status: 404,
  message: (p) => `Stemcell '${p.name}/${p.version}' doesn't exist`,
  next: "`bosh stemcells` lists them.",
});

export const NoSuchRelease = defineError<{ name: string }>({
  code: "DIO-026",
  kind: "operator",
  number: 30005,
  status: 404,
  message: (p) => `Release '${p.name}' doesn't exist`,
  next: "`bosh releases` lists them.",
});

export const NoSuchReleaseVersion = defineError<{ name: string; version: string }>({
  code: "DIO-027",
  kind: "operator",
  number: 30006,
  status: 404,
  message: (p) => `Release version '${p.name}/${p.version}' doesn't exist`,
  next: "`bosh releases` lists them.",
});

export const BadResolution = defineError<{
  problem: number;
  type: string;
  given: string;
  offered: readonly string[];
}>({
  code: "DIO-030",
  kind: "operator",
  number: 410003,
  message: (p) =>
    `problem ${p.problem} (${p.type}) cannot be resolved by '${p.given}', only by one of ${p.offered.join(", ")}; nothing was done`,
  next: "Run `bosh cloud-check` again and choose one of these.",
});

export const Unresolved = defineError<{ failures: readonly string[] }>({
  code: "DIO-031",
  kind: "outside",
  number: 100,
  message: (p) => p.failures.join("\n"),
  next: "Run `bosh cloud-check` again for what is left.",
});

export const VmHoldsDisk = defineError<{ vm: string; disk: string; instance: string }>({
  code: "DIO-032",
  kind: "operator",
  number: 390003,
  message: (p) => `the cloud still has VM '${p.vm}', and disk '${p.disk}' of ${p.instance} is attached to it`,
  next: "Choose delete_vm or recreate_vm, which set the disk free.",
});

export const OtherDiskActive = defineError<{ instance: string; active: string; disk: string }>({
  code: "DIO-033",
  kind: "operator",
  number: 390003,
  message: (p) =>
    `${p.instance} has the active disk '${p.active}' already: disk '${p.disk}' can only be moved to the orphaned disks`,
  next: "Choose delete_disk, which moves it there.",
});

export const SilentWithDisk = defineError<{ instance: string; why: string }>({
  code: "DIO-034",
  kind: "outside",
  number: 390003,
  message: (p) => `the agent of ${p.instance} does not answer: ${p.why}`,
  next: "Reboot or recreate its VM first: `bosh cloud-check` offers both.",
});

export const NotWanted = defineError<{ instance: string }>({
  code: "DIO-035",
  kind: "operator",
  number: 70001,
  message: (p) => `the manifest does not want ${p.instance} any more`,
  next: "The next `bosh deploy` deletes it.",
});

export const NotProven = defineError<{ what: string; cid: string; instance: string; why: string }>({
  code: "DIK-021",
  kind: "operator",
  number: 390003,
  message: (p) =>
    `the ${p.what} '${p.cid}' is not adopted: that it is of ${p.instance} is not proven: ${p.why}`,
  next: "Look at it in the cloud. Nothing was changed.",
});

export const RecordedVmThere = defineError<{ instance: string; recorded: string; cid: string }>({
  code: "DIK-022",
  kind: "operator",
  number: 390003,
  message: (p) =>
    `the VM '${p.cid}' is not adopted: ${p.instance} has the VM '${p.recorded}' on record, and the cloud has that one too`,
  next: "Decide which of them has the data, delete the other with `bosh delete-vm CID`, and run `bosh cloud-check` again.",
});

export const NotSeenSinceRestore = defineError<{
  deployments: readonly string[];
  deployment: string;
  takenAt: string;
}>({
  code: "DIK-020",
  kind: "operator",
  message: (p) =>
    `the Director was restored from a backup of ${p.takenAt}, and nobody has looked since at what the cloud has of ${p.deployments.join(", ")}`,
  next: "Run `bosh -d {deployment} cloud-check`: it finds VMs and disks that were made after the backup. Then ask for this again.",
});

export const NothingMatched = defineError<{ deployment: string; filter: string }>({
  code: "DIO-070",
  kind: "operator",
  number: 100,
  message: (p) => `No instance with a VM in deployment '${p.deployment}' matched filter ${p.filter}`,
  next: "`bosh instances` lists them; `bosh start` gives a stopped one its VM.",
});

export const NoLogs = defineError<{ why: readonly string[] }>({
  code: "DIO-071",
  kind: "outside",
  number: 450002,
  message: (p) => `no agent gave its logs: ${p.why.join("; ")}`,
  next: "Look at the VMs with `bosh instances`, and ask again.",
});

export const OrphansLeft = defineError<{ deleted: number; before: string; failed: number }>({
  code: "DIO-028",
  kind: "outside",
  message: (p) =>
    `Deleted ${p.deleted} orphaned disk(s) older than ${p.before}. Failed to delete ${p.failed} disk(s).`,
  next: "`bosh task --debug` says why. They are tried again by schedule; `bosh delete-disk` tries one now.",
});
