import { systemCode } from "@slipway/kernel/errors";
import { WrongAgent } from "./agent.ts";
import { NoAnswer } from "./question.ts";
import { certificateProblem } from "./transport-failure.ts";

/**
 * Returns true if the failure to reach an agent says nothing about its VM: the Director does not accept the agent's certificate,
 * or the agent proved its identity and hung up, as agents do that reject the Director's certificate. A certificate of this
 * Director for another agent does not count: the address belongs to another VM by now.
 */
export function isDistrust(error: unknown): boolean {
  if (error instanceof NoAnswer) return error.failure.hungUp === true;
  return error instanceof WrongAgent && certificateProblem(systemCode(error.cause) ?? "") !== undefined;
}
