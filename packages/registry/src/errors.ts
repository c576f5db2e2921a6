import { defineError } from "@slipway/kernel/errors";

/** Every failure this package names. REG-00x the state on disk, 01x the server, 02x its start, 03x the client. */

export const DirectoryInUse = defineError<{ dir: string }>({
  code: "REG-001",
  kind: "operator",
  message: (p) => `the state directory ${p.dir} is in use by another registry`,
  next: "Stop the other registry or give this one its own directory. If it ran in a container that is gone, remove registry.lock.",
});

export const DamagedState = defineError<{ where: string; why: string }>({
  code: "REG-002",
  kind: "outside",
  message: (p) => `${p.where} cannot be read: ${p.why}`,
  next: "Check the disk. Restore the file from a backup. Nothing was changed and the registry did not start.",
});

export const LogFormatUnknown = defineError<{ path: string }>({
  code: "REG-003",
  kind: "operator",
  message: (p) => `${p.path} is not a registry log this version can read`,
  next: "Give the directory of a Slipway registry, or use the version that wrote the file.",
});

export const StateUnusable = defineError<{ dir: string }>({
  code: "REG-004",
  kind: "operator",
  message: (p) => `the state directory ${p.dir} cannot be used`,
  next: "Make sure the registry's user owns the directory and may read and write in it.",
});

export const WriteFailed = defineError<{ path: string }>({
  code: "REG-005",
  kind: "outside",
  message: (p) => `a change could not be written in ${p.path}; it was refused and the entries are as before`,
  next: "Free disk space or repair the disk. The registry writes again by itself as soon as it can.",
});

export const RegistryStopping = defineError<{ dir: string }>({
  code: "REG-006",
  kind: "outside",
  message: (p) => `a change was refused because the registry in ${p.dir} is stopping`,
  next: "Send it again when the registry is back.",
});

export const CannotListen = defineError<{ host: string; port: number }>({
  code: "REG-010",
  kind: "operator",
  message: (p) => `the registry cannot listen on ${p.host} port ${p.port}`,
  next: "Choose an address of this machine and a free port, or stop what listens there.",
});

export const BadCertificate = defineError<{ where: string }>({
  code: "REG-011",
  kind: "operator",
  message: (p) => `the TLS certificate and key of the registry (${p.where}) cannot be used`,
  next: "Give a certificate and its own private key, both as PEM, the key without a passphrase.",
});

export const BadUsers = defineError<{ why: string }>({
  code: "REG-012",
  kind: "operator",
  message: (p) => `the registry's users are not acceptable: ${p.why}`,
  next: "Give at least one user. A name is not empty and has no colon; a password is not empty.",
});

export const RequestFailed = defineError<{ method: string }>({
  code: "REG-013",
  kind: "bug",
  message: (p) => `a ${p.method} request could not be answered`,
  next: "Report this with the cause.",
});

export const AddressCheckFailed = defineError<{ address: string }>({
  code: "REG-014",
  kind: "outside",
  message: (p) => `the address check of ${p.address} failed, so its read without credentials was refused`,
  next: "Look at the cause. Clients that send credentials are not affected.",
});

export const ConfigUnreadable = defineError<{ path: string }>({
  code: "REG-020",
  kind: "operator",
  message: (p) => `the file ${p.path} of the registry's configuration cannot be read`,
  next: "Check the path and that the registry's user may read it.",
});

export const ConfigInvalid = defineError<{ path: string; problems: readonly string[] }>({
  code: "REG-021",
  kind: "operator",
  message: (p) => `the registry configuration ${p.path} is not valid: ${p.problems.join("; ")}`,
  next: "Correct the file; slipway-registry --help shows its shape.",
});

export const BadUsage = defineError<{ why: string }>({
  code: "REG-022",
  kind: "operator",
  message: (p) => `slipway-registry was called wrongly: ${p.why}`,
  next: "Call it as slipway-registry --config FILE; --help says more.",
});

export const BadEndpoint = defineError<{ why: string }>({
  code: "REG-030",
  kind: "operator",
  message: (p) => `the registry endpoint ${p.why}`,
  next: "Write it as http://host:25777 or https://host:25777; percent-encode credentials in it.",
});

interface Attempt {
  /** Such as `read the settings of "vm-7" at http://10.0.4.2:25777`. */
  readonly what: string;
}

export const RegistryUnreachable = defineError<Attempt>({
  code: "REG-031",
  kind: "outside",
  message: (p) => `cannot ${p.what}: no answer`,
  next: "Check that the registry runs, that this machine reaches it, and for https that its certificate is trusted.",
});

export const RegistryFailed = defineError<Attempt & { status: number }>({
  code: "REG-032",
  kind: "outside",
  message: (p) => `cannot ${p.what}: got HTTP ${p.status}`,
  next: "Look at the registry's log. An old registry answers 500 also for an id it does not know.",
});

export const RegistryDenied = defineError<Attempt & { status: number }>({
  code: "REG-033",
  kind: "operator",
  message: (p) => `cannot ${p.what}: got HTTP ${p.status}, the credentials were not accepted`,
  next: "Give the client the name and password of one of the registry's users.",
});

export const RegistryRefused = defineError<Attempt & { status: number }>({
  code: "REG-034",
  kind: "outside",
  message: (p) => `cannot ${p.what}: got HTTP ${p.status}`,
  next: "Check that the endpoint is a registry's. 413 means that the settings are larger than it takes.",
});

export const RegistryReplyInvalid = defineError<Attempt & { why: string }>({
  code: "REG-035",
  kind: "outside",
  message: (p) => `cannot ${p.what}: ${p.why}`,
  next: "Check that the endpoint is a registry's.",
});

export const CannotSend = defineError<Attempt & { why: string }>({
  code: "REG-036",
  kind: "bug",
  message: (p) => `cannot ${p.what}: ${p.why}`,
  next: "Report this: the caller gave the registry client something that no registry takes.",
});
