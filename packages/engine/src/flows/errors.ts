import { defineErrorClass } from "@slipway/kernel/errors";
import { isAgentError } from "../agents/agent.ts";

/** Names the instance and step that failed; `cause` has the reason. */
export class StepFailed extends defineErrorClass({
  code: "DIF-004",
  about: "'{instance}', {step}: {why}",
  kind: "outside",
  next: "",
}) {
  override readonly name = "StepFailed";

  readonly step: string;

  constructor(subject: string, step: string, cause: unknown) {
    super(`'${subject}', ${step}`, { cause });
    this.step = step;
  }
}

/** Returns the reason of a failure, without the step it happened in. */
export const causeOf = (error: unknown): unknown => (error instanceof StepFailed ? error.cause : error);

/** Returns true if an agent caused the failure. */
export const isOfAgent = (error: unknown): boolean => isAgentError(causeOf(error));
