import type { SlipwayError } from "@slipway/kernel/errors";
import type { TaskOutcome } from "./director-api.ts";
import { TaskFailed } from "./errors.ts";

/** Matches the start of the advice in Slipway's messages. */
export const ADVICE = /[.;] next: /i;

/**
 * A task's failure. Its result is cut short; its last event says all, and often what to do. `printed`: the reader has
 * seen why, among the events.
 */
export function failureOf(
  { id, state, result }: TaskOutcome,
  told: string | undefined,
  printed: boolean,
): SlipwayError {
  const text = told !== undefined && told.length > result.length ? told : result;
  const [reason = "", ...steps] = text.split(ADVICE);
  const why = printed && told !== undefined ? "" : reason;
  const advice = steps.reverse().map((step) => `${sentence(step)}\n        `);
  return TaskFailed({ id, state, why, advice: advice.join("") });
}

const sentence = (text: string): string =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.)]$/.test(text) ? "" : "."}`;
