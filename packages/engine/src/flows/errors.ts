import { defineError } from "@slipway/kernel/errors";

export const InstanceNotRunning = defineError<{ instance: string; jobState: string; seconds: number }>({
  code: "DIF-001",
  kind: "outside",
  message: (p) =>
    `'${p.instance}' is not running after update: its agent reports '${p.jobState}' after ${p.seconds} s`,
  next: "Look at the logs of its jobs (bosh logs). Raise update_watch_time only if they really need longer.",
});

export const IntentUnreadable = defineError<{ step: string; id: number }>({
  code: "DIF-002",
  kind: "bug",
  message: (p) =>
    `an open intent (number ${p.id}) names the step '${p.step}', which this program does not know`,
  next: "It was written by another version of the Director. Start that one to finish its work, then upgrade.",
});

/** Which instance, and at what; why is in its cause. */
export class StepFailed extends Error {
  override readonly name = "StepFailed";

  constructor(instance: string, step: string, cause: unknown) {
    super(`'${instance}', ${step}`, { cause });
  }
}

/** What went wrong, whichever step it happened in. */
export const causeOf = (error: unknown): unknown => (error instanceof StepFailed ? error.cause : error);
