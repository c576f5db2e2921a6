import { isAgentError } from "../agents/agent.ts";

/** Which instance, and at what; why is in its cause. */
export class StepFailed extends Error {
  override readonly name = "StepFailed";

  readonly step: string;

  constructor(subject: string, step: string, cause: unknown) {
    super(`'${subject}', ${step}`, { cause });
    this.step = step;
  }
}

/** What went wrong, whichever step it happened in. */
export const causeOf = (error: unknown): unknown => (error instanceof StepFailed ? error.cause : error);

/** Whether it was an agent's doing. */
export const isOfAgent = (error: unknown): boolean => isAgentError(causeOf(error));
