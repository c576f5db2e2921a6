import { defineError } from "@slipway/kernel/errors";

/** Errors of create-env and delete-env. Faults of the CPI, the agent or the stemcell have errors of their own. */

export const ManifestWrong = defineError<{ path: string; problems: readonly string[] }>({
  code: "CLE-001",
  kind: "operator",
  message: (p) =>
    `the manifest ${p.path} has ${p.problems.length === 1 ? "a problem" : `${p.problems.length} problems`}:\n${p.problems.map((one) => `  - ${one}`).join("\n")}`,
  next: "Correct the places named. Nothing was changed.",
});

export const StateUnreadable = defineError<{ path: string; problems: readonly string[] }>({
  code: "CLE-002",
  kind: "operator",
  message: (p) => `the state file ${p.path} cannot be used: ${p.problems.join("; ")}`,
  next: "Restore it from a backup; it was left as it is. It alone knows which VM and disk are in use: without it a second VM and an empty disk would be made.",
});

export const StateNotWritten = defineError<{ path: string }>({
  code: "CLE-003",
  kind: "outside",
  message: (p) => `the state file ${p.path} cannot be written`,
  next: "See that its directory exists, that you may write in it and that the disk has free space, then run the command again: it goes on where it stopped.",
});

export const StateBusy = defineError<{ path: string; holder: string }>({
  code: "CLE-004",
  kind: "operator",
  message: (p) => `another process is at work on the state file ${p.path}: ${p.holder}`,
  next: "Wait until it has ended, then run the command again. Two at once would make two VMs.",
});

export const StatePathMissing = defineError<Record<string, never>>({
  code: "CLE-005",
  kind: "operator",
  typed: true,
  message: () => "a manifest from standard input has no name to derive that of the state file from",
  next: "Name the state file with --state, and use the same one every time.",
});

export const RegistryNotRunning = defineError<{ dir: string; why: string }>({
  code: "CLE-006",
  kind: "outside",
  message: (p) => `the registry that this VM needs cannot be run in ${p.dir}: ${p.why}`,
  next: "Look at registry.log there. A VM that was made with the registry knows its port: end what listens on it, or recreate the VM with a CPI and a stemcell of version 2 or later.",
});

export const TunnelUnsupported = defineError<Record<never, never>>({
  code: "CLE-010",
  kind: "operator",
  message: () =>
    "this CPI or stemcell needs a registry, and cloud_provider.ssh_tunnel asks for a tunnel to it, which slipway does not open",
  next: "Remove ssh_tunnel and set cloud_provider.registry.host to an address of this machine that the VM reaches, or use a CPI and a stemcell of version 2 or later, which need no registry.",
});

export const RegistryUnreachable = defineError<{ why: string }>({
  code: "CLE-011",
  kind: "operator",
  message: (p) => `it is not known where the VM would find the registry that it needs: ${p.why}`,
  next: "Set cloud_provider.registry.host to an address of this machine that the VM reaches, or use a CPI and a stemcell of version 2 or later, which need no registry.",
});

export const ArchiveMissing = defineError<{ what: string; path: string }>({
  code: "CLE-008",
  kind: "operator",
  message: (p) => `the ${p.what} that the manifest names is not there: ${p.path}`,
  next: "Correct its url: paths are relative to the manifest. `slipway stemcell build` makes a stemcell for the local CPI.",
});

export const EnvironmentMissing = defineError<{ path: string }>({
  code: "CLE-009",
  kind: "operator",
  message: (p) => `there is no VM that could be stopped or started: ${p.path} names none`,
  next: "Make it with create-env, or name the state file with --state.",
});

export const ReleaseNamedOtherwise = defineError<{ name: string; found: string }>({
  code: "CLE-020",
  kind: "operator",
  message: (p) => `the manifest calls a release '${p.name}', and the archive is of release '${p.found}'`,
  next: "Give the release the name that its release.MF has, or another archive.",
});

export const JobUnknown = defineError<{ job: string; release: string; known: readonly string[] }>({
  code: "CLE-021",
  kind: "operator",
  message: (p) => `release '${p.release}' has no job '${p.job}'; it has ${p.known.join(", ") || "none"}`,
  next: "Name one of them, or give another version of the release.",
});

export const PackageUnknown = defineError<{ name: string }>({
  code: "CLE-022",
  kind: "operator",
  message: (p) => `a job or package needs package '${p.name}', which its release does not have`,
  next: "The release is not whole. Make it again.",
});

export const PackageCycle = defineError<{ names: readonly string[] }>({
  code: "CLE-023",
  kind: "operator",
  message: (p) => `packages need each other: ${p.names.join(" -> ")}`,
  next: "Break the circle in the release's package specs, and make the release again.",
});

export const PackageWithoutSource = defineError<{ name: string }>({
  code: "CLE-024",
  kind: "operator",
  message: (p) => `the release holds no archive of package '${p.name}'`,
  next: "It was made for a Director that has the package already. Make it again with all packages.",
});

export const CpiJobMissing = defineError<{ jobs: readonly string[]; found: number }>({
  code: "CLE-025",
  kind: "operator",
  message: (p) =>
    `of the jobs ${p.jobs.join(", ")} in cloud_provider ${p.found === 0 ? "none has" : `${p.found} have`} a template for bin/cpi`,
  next: "Name exactly one job of a CPI release under cloud_provider.templates, and its plugins beside it.",
});

export const CpiPackageFailed = defineError<{ name: string; code: number; tail: string }>({
  code: "CLE-026",
  kind: "operator",
  message: (p) =>
    `the CPI's package '${p.name}' was not compiled, status ${p.code}; the last lines:\n${p.tail}`,
  next: "A CPI is compiled on this machine. Install what its script lacks (compilers, libraries), and run the command again.",
});

export const AgentTrouble = defineError<{ why: string }>({
  code: "CLE-060",
  kind: "outside",
  message: (p) => p.why,
  next: "See that --agent-endpoint and its password are those of the manifest's `cloud_provider.mbus`, and --agent-certificate its `cert.ca`.",
});
