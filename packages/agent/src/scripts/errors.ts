import { defineError } from "@slipway/kernel/errors";

export const CannotRun = defineError<{ program: string; why: string }>({
  code: "AGR-001",
  kind: "operator",
  message: (p) => `${p.program} cannot be run: ${p.why}`,
  next: "Correct the job's template for this script in the release, and deploy again.",
});

/** The first sentences are upstream's: callers and people look for them. What follows is for people only. */
export const ScriptsFailed = defineError<{
  script: string;
  failures: number;
  all: number;
  failed: readonly string[];
  passed: readonly string[];
  /** One line for each job that failed. */
  reasons: readonly string[];
}>({
  code: "AGA-008",
  kind: "outside",
  message: (p) =>
    `${p.failures} of ${p.all} ${p.script} scripts failed. Failed Jobs: ${p.failed.join(", ")}.` +
    `${p.passed.length > 0 ? ` Successful Jobs: ${p.passed.join(", ")}.` : ""}\n${p.reasons.join("\n")}`,
  next: "Look at the logs of the failed jobs in /var/vcap/sys/log, fix the cause, and deploy again.",
});

export const NoErrand = defineError<{ why: string }>({
  code: "AGR-002",
  kind: "operator",
  message: (p) => p.why,
  next: "Name a job of this instance group that has bin/run; bosh errands lists them.",
});

export const LogNotWritable = defineError<{ path: string }>({
  code: "AGR-003",
  kind: "outside",
  message: (p) => `the log ${p.path} cannot be written`,
  next: "Look what stands there: the agent appends to a plain file and follows no links. Remove it, or free some space.",
});

/** Within ScriptsFailed, which names the job. */
export const ScriptEnded = defineError<{ code: number; stderr: string }>({
  code: "AGR-004",
  kind: "outside",
  message: (p) => `it ended with ${p.code}${said("stderr", p.stderr)}`,
  next: "Look at the script's logs in /var/vcap/sys/log, fix the cause, and deploy again.",
});

/** The first words are upstream's. */
export const NotAnInteger = defineError<{ code: number; stdout: string; stderr: string }>({
  code: "AGR-005",
  kind: "outside",
  message: (p) =>
    `Script did not return a signed integer; it ended with ${p.code}` +
    `${said("stdout", p.stdout)}${said("stderr", p.stderr)}`,
  next: "A drain script prints one number on stdout and nothing else; send everything else to stderr.",
});

const said = (stream: string, text: string): string =>
  text === "" ? `, its ${stream} is empty` : `, the last lines of its ${stream}:\n${text}`;
