import { defineError } from "@slipway/kernel/errors";

export const MonitFileInvalid = defineError<{ file: string; line: number; why: string }>({
  code: "AGJ-001",
  kind: "operator",
  message: (p) => `${p.file}, line ${p.line}: ${p.why}`,
  next: "Correct the job's monit file in the release, then deploy again.",
});

export const MonitFileUnreadable = defineError<{ job: string; path: string }>({
  code: "AGJ-002",
  kind: "outside",
  message: (p) => `the monit file ${p.path} of the job ${p.job} cannot be read`,
  next: "Deploy again; with `--recreate` if the VM has lost files.",
});

/** The texts of the next three are upstream's: Directors and people look for them. */
export const StopTimedOut = defineError<{ services: readonly string[] }>({
  code: "AGJ-003",
  kind: "outside",
  message: (p) => `Timed out waiting for services '${p.services.join(", ")}' to stop after 5 minutes`,
  next: "Look at the logs of these jobs, end their processes by hand, then try again.",
});

export const PendingTimedOut = defineError<{ services: readonly string[] }>({
  code: "AGJ-004",
  kind: "outside",
  message: (p) =>
    `Timed out waiting for services '${p.services.join(", ")}' to no longer be pending after 5 minutes`,
  next: "Look at the logs of these jobs: their start or stop programs do not end.",
});

export const StopErrored = defineError<{ services: readonly string[]; why: readonly string[] }>({
  code: "AGJ-005",
  kind: "outside",
  message: (p) =>
    [`Stopping services '[${p.services.join(" ")}]' errored`, ...p.why]
      .filter((one) => one !== "")
      .join(": "),
  next: "Look at the logs of these jobs, end their processes by hand, then try again.",
});

export const MonitUnreachable = defineError<{ doing: string; address: string; why: string }>({
  code: "AGJ-006",
  kind: "outside",
  message: (p) => `monit at ${p.address} could not be asked (${p.doing}): ${p.why}`,
  next: "See whether monit runs on the VM and what its log says.",
});

export const MonitAnswerInvalid = defineError<{ why: string }>({
  code: "AGJ-007",
  kind: "outside",
  message: (p) => `monit's status cannot be read: ${p.why}`,
  next: "See which program answers on monit's port; versions 5.2 to 5.3x of monit are known.",
});

export const MonitRefused = defineError<{ why: string }>({
  code: "AGJ-008",
  kind: "operator",
  message: (p) => `monit does not take the monit files of the jobs: ${p.why}`,
  next: "Correct the monit file in the release, then deploy again.",
});

export const MonitNotReloaded = defineError<{ seconds: number }>({
  code: "AGJ-009",
  kind: "outside",
  message: (p) => `monit did not take over the monit files of the jobs within ${p.seconds} seconds`,
  next: "See whether monit runs on the VM and what its log says.",
});
