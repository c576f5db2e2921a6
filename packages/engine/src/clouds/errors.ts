import { defineError } from "@slipway/kernel/errors";

export const CpiNotRun = defineError<{ path: string; why: string }>({
  code: "DIC-001",
  kind: "operator",
  message: (p) => `Failed to run cpi: '${p.path}' ${p.why}`,
  next: "Correct cpi.exec_path, or make the file executable for the Director's user. Nothing was done.",
});

interface About {
  readonly cpi: string;
  readonly method: string;
}

export const CpiStopped = defineError<About & { why: string }>({
  code: "DIC-002",
  kind: "outside",
  message: (p) => `${p.method} of the CPI ${p.cpi} was stopped: ${p.why}`,
  next: "Look at the task's cpi log for what it was waiting for. Raise cpi.deadline_s only if the work really takes that long.",
});

export const CpiAnswerUnusable = defineError<About>({
  code: "DIC-003",
  kind: "outside",
  message: (p) =>
    `${p.method} of the CPI ${p.cpi} gave no usable answer; whether it did the work is not known`,
  next: "Look at the task's cpi log. Run the CPI's own checks against the contract; it is the CPI that must be corrected.",
});

export const CpiKilled = defineError<About & { how: string }>({
  code: "DIC-010",
  kind: "outside",
  message: (p) =>
    `${p.method} of the CPI ${p.cpi} was ended from outside (${p.how}) before it had answered; whether it did the work is not known`,
  next: "See who ended it: an operator, or the kernel for want of memory (`dmesg`). Then run the command again.",
});

export const UnknownCpi = defineError<{ name: string; known: readonly string[]; configured: boolean }>({
  code: "DIC-004",
  kind: "operator",
  message: (p) =>
    `CPI '${p.name}' not found in cpi-config${p.configured ? "" : " (because cpi-config is not set)"}; known: ${
      p.known.map((name) => `'${name}'`).join(", ") || "none"
    }`,
  next: "Put it back with update-cpi-config. Where it has another name by now, say so with migrated_from.",
});

export const CpiProgramRefused = defineError<{ name: string; path: string }>({
  code: "DIC-011",
  kind: "operator",
  number: 40000,
  message: (p) => `the CPI '${p.name}' of the CPI config may not run ${p.path}`,
  next: "Name the program by its type in cpi.programs of the Director's configuration, or install it as /var/vcap/jobs/TYPE_cpi/bin/cpi.",
});

export const OwnCpiProperties = defineError<{ name: string; type: string }>({
  code: "DIC-012",
  kind: "operator",
  number: 40000,
  message: (p) =>
    `the CPI '${p.name}' of the CPI config has properties, and a CPI of the type ${p.type} works in the Director's own process with the Director's configuration`,
  next: "Leave the properties out, or name the executable of another CPI.",
});

export const BadCpiProperties = defineError<{ name: string; keys: readonly string[] }>({
  code: "DIC-005",
  kind: "operator",
  number: 40000,
  message: (p) =>
    `the properties of the CPI '${p.name}' use names that every call needs for itself: ${p.keys.join(", ")}`,
  next: "Rename them: they would take the place of what tells calls and VMs apart.",
});

export const VersionsUnusable = defineError<{ name: string; problems: readonly string[] }>({
  code: "DIC-006",
  kind: "outside",
  message: (p) =>
    `the versions of Director, CPI '${p.name}' and stemcell do not fit: ${p.problems.join("; ")}`,
  next: "Use a CPI and a stemcell that say their api_version as a whole number of at least 1.",
});

export const RegistryAddressUnusable = defineError<{ host: string }>({
  code: "DIC-007",
  kind: "operator",
  message: (p) => `the registry cannot be started: VMs cannot be told to find it at ${p.host}`,
  next: "Set registry.host to one address of this machine that the VMs reach.",
});

export const RegistryCredentialsUnusable = defineError<{ path: string }>({
  code: "DIC-008",
  kind: "outside",
  message: (p) => `the credentials of the Director's registry in ${p.path} cannot be read`,
  next: "Restore the file from a backup: the VMs that use the registry know only these credentials. Delete it only if there are none.",
});

export const VmWithoutRegistry = defineError<{ cpi: string; why: string }>({
  code: "DIC-009",
  kind: "operator",
  message: (p) =>
    `the VM was made without the registry, and the CPI ${p.cpi} can now tell its agent of disks only through the registry: ${p.why}`,
  next: "Recreate the instance (slipway recreate GROUP/ID): its new VM uses the registry. Or bring back the CPI of before.",
});
