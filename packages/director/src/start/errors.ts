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
