import { systemCode } from "@slipway/kernel/errors";
import { WrongAgent } from "./agent.ts";
import { NoAnswer } from "./question.ts";
import { certificateTrouble } from "./trouble.ts";

/**
 * Whether an agent could not be asked for reasons that say nothing of its VM: this Director does not accept its
 * certificate, or it has proven who it is and hung up, as one does that does not accept the Director's. A certificate of
 * this Director for another agent is not meant: that address is another VM's by now.
 */
export function isDistrust(error: unknown): boolean {
  if (error instanceof NoAnswer) return error.trouble.hungUp === true;
  return error instanceof WrongAgent && certificateTrouble(systemCode(error.cause) ?? "") !== undefined;
}
