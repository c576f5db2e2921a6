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
