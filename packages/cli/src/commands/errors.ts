import { defineError } from "@slipway/kernel/errors";

export const NoSuchDeployment = defineError<{ name: string }>({
  code: "CLI-040",
  kind: "operator",
  message: (p) => `there is no deployment '${p.name}'`,
  next: "`slipway deployments` lists them.",
});

export const Missing = defineError<{ what: string }>({
  code: "CLI-043",
  kind: "operator",
  message: (p) => `there is no ${p.what}`,
  next: "List what there is: slipway configs, tasks --recent, stemcells, disks.",
});

export const OnlyOrphanNetworks = defineError<Record<never, never>>({
  code: "CLI-160",
  kind: "operator",
  message: () => "this Director lists orphaned networks only",
  next: "Add --orphaned.",
});

export const OnlyOrphans = defineError<Record<never, never>>({
  code: "CLI-046",
  kind: "operator",
  message: () => "this Director lists orphaned disks only",
  next: "Add --orphaned. `slipway instances --details` shows the disks of instances.",
});

export const ErrandFailed = defineError<{ name: string; code: number }>({
  code: "CLI-120",
  kind: "operator",
  message: (p) => `Errand '${p.name}' completed with error (exit code ${p.code})`,
  next: "Its own words are above. --download-logs fetches the logs of where it ran.",
});

export const ErrandCancelled = defineError<{ name: string; code: number }>({
  code: "CLI-121",
  kind: "operator",
  message: (p) => `Errand '${p.name}' was canceled (exit code ${p.code})`,
  next: "A signal ended it: the task was cancelled, or the VM ran short of something.",
});

export const FileNotWritten = defineError<{ path: string; why: string }>({
  code: "CLI-161",
  kind: "operator",
  message: (p) => `${p.path} cannot be written: ${p.why}`,
  next: "Name a file in a directory that exists and that you may write to.",
});

export const EmptyValue = defineError<{ name: string }>({
  code: "CLI-163",
  kind: "operator",
  typed: true,
  message: (p) => `the value for '${p.name}' is empty`,
  next: "See that the file has the value. Nothing was changed.",
});

export const NoValueGiven = defineError<{ name: string }>({
  code: "CLI-162",
  kind: "operator",
  message: (p) => `there is no terminal to ask for the value of '${p.name}'`,
  next: "Give it with --file PATH, or through standard input with --file -.",
});
