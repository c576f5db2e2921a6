import { defineError } from "@slipway/kernel/errors";

/** Every failure of tasks. DIT-00x leases, 01x locks, 02x work. */

export const DirectorStopping = defineError<{ task: number }>({
  code: "DIT-002",
  kind: "outside",
  message: (p) => `the Director stops; task ${p.task} is handed back and goes on at the next start`,
  next: "Start the Director again.",
});

export const LockTaken = defineError<{ what: string; holder: string; since: string }>({
  code: "DIT-010",
  kind: "operator",
  number: 100,
  message: (p) => `${p.what} is locked by ${p.holder} since ${p.since}`,
  next: "Wait until that task has ended, or cancel it with `bosh cancel-task`, and try again.",
});

export const LockLost = defineError<{ what: string; task: number }>({
  code: "DIT-011",
  kind: "outside",
  message: (p) => `task ${p.task} has lost the lock of ${p.what} while working on it, and was stopped`,
  next: "See in `bosh locks` who holds it now. Run the command again once it is free.",
});

export const UnknownWork = defineError<{ task: number; type: string }>({
  code: "DIT-020",
  kind: "bug",
  message: (p) => `this Director does not know how to run task ${p.task} of the type ${p.type}`,
  next: "Run the version of the Director that accepted the task, or give the command again.",
});

export const BadTaskQuery = defineError<{ field: string; given: string; expected: string }>({
  code: "DIT-021",
  kind: "operator",
  number: 40005,
  message: (p) => `'${p.field}' of the task query must be ${p.expected}, not '${p.given}'`,
  next: "Correct the query.",
});
