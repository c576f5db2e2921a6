import { defineError } from "@slipway/kernel/errors";

export const ParamsUnreadable = defineError<{ task: number; problems: string }>({
  code: "DIO-001",
  kind: "bug",
  message: (p) => `task ${p.task} was queued with parameters that cannot be read: ${p.problems}`,
  next: "It was written by another version of the Director. Run the command again.",
});

export const JobsNotSupported = defineError<{ groups: string }>({
  code: "DIO-002",
  kind: "operator",
  message: (p) => `the manifest has jobs in ${p.groups}, and this Director does not run releases yet`,
  next: "Deploy groups with `jobs: []`: VMs, networks and disks are managed; releases come later.",
});
