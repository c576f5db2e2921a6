import { defineError } from "@slipway/kernel/errors";

export const NoCpi = defineError<Record<never, never>>({
  code: "DIR-001",
  kind: "operator",
  message: () => "the configuration names no CPI",
  next: "Set cpi.exec_path to the CPI's executable.",
});

export const ConfigUnreadable = defineError<{ path: string; problems: string }>({
  code: "DIR-002",
  kind: "operator",
  message: (p) => `the configuration file ${p.path} cannot be used: ${p.problems}`,
  next: "Correct the file; docs/run-the-director.md lists every key.",
});

export const BadUsage = defineError<{ problem: string }>({
  code: "DIR-003",
  kind: "operator",
  typed: true,
  message: (p) => p.problem,
  next: "Run it with --help to see how it is called.",
});

export const PasswordUnreadable = defineError<{ path: string }>({
  code: "DIR-004",
  kind: "operator",
  message: (p) => `the file ${p.path} should hold the password of the user admin and is empty`,
  next: "Write a password into it, or remove it to have a new one generated.",
});

export const ConfigMissing = defineError<{ path: string }>({
  code: "DIR-005",
  kind: "operator",
  typed: true,
  message: (p) => `there is no configuration file ${p.path}`,
  next: "Name one that is there; without --config everything has its default.",
});

export const ApiCertificateUnusable = defineError<{ why: string }>({
  code: "DIR-006",
  kind: "operator",
  message: (p) => `listen.certificate and listen.private_key of the configuration cannot be used: ${p.why}`,
  next: "Give the API's certificate, followed by those up to its authority, and its key; or neither, and the Director makes its own.",
});

export const ReloadFailed = defineError<Record<never, never>>({
  code: "DIR-007",
  kind: "operator",
  message: () => "the configuration was not taken over; the Director goes on with the one before",
  next: "Correct the file and send SIGHUP again.",
});

export const OtherCpi = defineError<{ was: string; now: string }>({
  code: "DIR-008",
  kind: "operator",
  message: (p) =>
    `the VMs, disks or stemcells of this Director belong to the CPI ${p.was}, and the configuration has ${p.now}; nothing was changed`,
  next: "Start the Director with the configuration it had (`--config FILE`). If the new one manages the same cloud, such as the same CPI at another path, start it once with `--accept cpi`.",
});

export const OtherKeys = defineError<{ file: string }>({
  code: "DIR-009",
  kind: "operator",
  message: (p) =>
    `\`${p.file}\` of the state directory is not the one that the VMs of this database were made with; nothing was changed`,
  next: "Restore it from a backup. Directors that share a database have the same `secrets.key`, `agent-secret` and `pki` in their state directories. If it is lost for good, start the Director once with `--accept keys` and recreate every VM.",
});

export const UsersGone = defineError<Record<never, never>>({
  code: "DIR-010",
  kind: "operator",
  message: () =>
    "this Director had `users` in its configuration, and now has none: the API would be open to the generated user `admin`",
  next: "Start the Director with the configuration it had (`--config FILE`). To have the generated user instead, start it once with `--accept users`.",
});

export const OtherName = defineError<{ was: string; now: string }>({
  code: "DIR-011",
  kind: "operator",
  message: (p) =>
    `this Director was called ${p.was} and is now called ${p.now}: its variables belong to the name, and deployments would get new passwords and certificates`,
  next: "Start the Director with the configuration it had (`--config FILE`), or set `name` to {was}. To rename it on purpose, start it once with `--accept name`.",
});

export const BadAccept = defineError<{ given: string; known: string }>({
  code: "DIR-012",
  kind: "operator",
  typed: true,
  message: (p) => `--accept takes a list of ${p.known}, got '${p.given}'`,
  next: "Name what was changed on purpose, such as `--accept cpi`.",
});
