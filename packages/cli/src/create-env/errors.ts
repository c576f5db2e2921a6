import { defineError } from "@slipway/kernel/errors";

/** What can go wrong around create-env and delete-env. What CPI, agent or stemcell do wrong has errors of its own. */

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
  next: "See that its directory exists, that you may write in it and that the disk has room, then run the command again: it goes on where it stopped.",
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
  message: () => "a manifest from standard input has no name to derive that of the state file from",
  next: "Name the state file with --state, and use the same one every time.",
});

export const RegistryNotRunning = defineError<{ dir: string; why: string }>({
  code: "CLE-006",
  kind: "outside",
  message: (p) => `the registry that this VM needs cannot be run in ${p.dir}: ${p.why}`,
  next: "Look at registry.log there. A VM that was made with the registry knows its port: end what listens on it, or recreate the VM with a CPI and a stemcell of version 2 or later.",
});

export const StemcellMissing = defineError<{ path: string }>({
  code: "CLE-008",
  kind: "operator",
  message: (p) => `the stemcell ${p.path} that the manifest names is not there`,
  next: "Correct resource_pools[].stemcell.url: paths are relative to the manifest. `slipway stemcell build` makes one for the local CPI.",
});

export const EnvironmentMissing = defineError<{ path: string }>({
  code: "CLE-009",
  kind: "operator",
  message: (p) => `there is no VM that could be stopped or started: ${p.path} names none`,
  next: "Make it with create-env, or name the state file with --state.",
});
