import { defineError } from "@slipway/kernel/errors";

export const InstanceNotRunning = defineError<{
  instance: string;
  jobState: string;
  seconds: number;
  /** Names of processes that do not run, as far as the agent tells. */
  failed: readonly string[];
  /** Problems of the processes, with the last lines of their logs, if the agent reports them. */
  problems: readonly string[];
}>({
  code: "DIF-001",
  kind: "outside",
  message: (p) =>
    `'${p.instance}' is not running after update. ${p.failed.length > 0 ? `Review logs for failed jobs: ${p.failed.join(", ")}. ` : ""}Its agent reports '${p.jobState}' after ${p.seconds} s${p.problems.length > 0 ? `: ${p.problems.join("; ")}` : ""}`,
  next: "Look at the logs of its jobs (bosh logs). Raise update_watch_time only if they really need longer.",
});

export const IntentUnreadable = defineError<{ step: string; why: string }>({
  code: "DIF-002",
  kind: "bug",
  message: (p) => `an intent of the step '${p.step}' in the journal cannot be read: ${p.why}`,
  next: "Another version of the Director wrote it. Start that one to finish its work, then upgrade.",
});

export const OutcomeUnknown = defineError<{ step: string; why: string }>({
  code: "DIF-003",
  kind: "outside",
  message: (p) => `whether ${p.step} was carried out is not known, and the CPI refuses to say: ${p.why}`,
  next: "Run the command again once the CPI works: it is asked again under the same request id. If it refuses once more, the command goes on, and what may be left in the cloud is listed by `slipway strays` and `bosh cck`.",
});
