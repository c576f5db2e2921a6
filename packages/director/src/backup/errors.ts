import { defineError } from "@slipway/kernel/errors";

/** Errors of backups and restores. */

export const BackupThere = defineError<{ path: string }>({
  code: "DIK-001",
  kind: "operator",
  message: (p) => `${p.path} is there already; a backup never replaces a file`,
  next: "Give the backup another name, such as one with the date.",
});

export const NothingToBackUp = defineError<{ dir: string }>({
  code: "DIK-002",
  kind: "operator",
  message: (p) => `there is no Director's state in ${p.dir}`,
  next: "Name the directory with --state-dir, or the home with SLIPWAY_HOME.",
});

export const BackupUnreadable = defineError<{ path: string; why: string }>({
  code: "DIK-003",
  kind: "outside",
  message: (p) => `the backup ${p.path} cannot be used: ${p.why}. Nothing was touched`,
  next: "Take another copy of it, or an earlier backup.",
});

export const BackupNewer = defineError<{ path: string; has: number; knows: number; version: string }>({
  code: "DIK-004",
  kind: "operator",
  message: (p) =>
    `the backup ${p.path} was taken from a newer Director: version ${p.version}, database version ${p.has}; this one knows ${p.knows}`,
  next: "Restore it with that version of slipway or a later one.",
});

export const PassphraseNeeded = defineError<{ path: string }>({
  code: "DIK-005",
  kind: "operator",
  typed: true,
  message: (p) => `the backup ${p.path} is encrypted, and no passphrase was given`,
  next: "Name a file that holds it with --passphrase-file, or set SLIPWAY_BACKUP_PASSPHRASE.",
});

export const WrongPassphrase = defineError<{ path: string }>({
  code: "DIK-006",
  kind: "operator",
  message: (p) =>
    `the backup ${p.path} cannot be decrypted: the passphrase is another one, or the file was changed. Nothing was touched`,
  next: "Try the passphrase that was given when it was taken.",
});

export const StateThere = defineError<{ dir: string; names: string }>({
  code: "DIK-007",
  kind: "operator",
  message: (p) => `${p.dir} is not empty (${p.names}); a restore replaces nothing`,
  next: "Restore into another directory, or add --replace: the old state is then moved aside and kept.",
});

export const DatabaseThere = defineError<{ tables: number }>({
  code: "DIK-008",
  kind: "operator",
  message: (p) =>
    `the database of the configuration has ${p.tables} tables already; a restore needs an empty one, and replaces nothing`,
  next: "Name an empty database in `database.url`.",
});

export const BlobsGone = defineError<{ tries: number }>({
  code: "DIK-009",
  kind: "outside",
  message: (p) => `releases were deleted while the backup was taken, ${p.tries} times in a row`,
  next: "Take the backup again when the tasks that delete releases are over.",
});

export const RestoreRuns = defineError<{ dir: string; holder: string }>({
  code: "DIK-010",
  kind: "operator",
  message: (p) => `another restore into ${p.dir} is under way: ${p.holder}`,
  next: "Wait for it to end.",
});
