import { defineError } from "@slipway/kernel/errors";

export const NoPassphrase = defineError<{ where: string }>({
  code: "CLK-001",
  kind: "operator",
  typed: true,
  message: (p) => `there is no passphrase in ${p.where}`,
  next: "Write one into it, a single line. Without a passphrase, leave the option out: the backup is then not encrypted.",
});

export const PassphraseUnreadable = defineError<{ path: string; why: string }>({
  code: "CLK-002",
  kind: "operator",
  message: (p) => `the passphrase file ${p.path} cannot be read: ${p.why}`,
  next: "Name a file that this user may read with --passphrase-file.",
});
