import type { SlipwayError } from "@slipway/kernel/errors";
import type { TaskOutcome } from "./director-api.ts";
import { TaskFailed } from "./errors.ts";

/** A task's failure. Its result is cut short; its last event says all, and often what to do. */
export function failureOf({ id, state, result }: TaskOutcome, told: string | undefined): SlipwayError {
  const text = told !== undefined && told.length > result.length ? told : result;
  const [why = "", ...steps] = text.split(/[.;] next: /i);
  const advice = steps.reverse().map((step) => `${sentence(step)}\n        `);
  return TaskFailed({ id, state, why, advice: advice.join("") });
}

const sentence = (text: string): string =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.)]$/.test(text) ? "" : "."}`;
