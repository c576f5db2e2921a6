import type { Problem } from "@slipway/protocol/director/problem";
import { CannotAskFor } from "../ui/errors.ts";
import type { Ui } from "../ui/ui.ts";
import { ProblemsUndecided } from "./errors.ts";

/** Makes the error for a command that has no terminal to ask at. */
type Undecided = (params: Record<never, never>, options: ErrorOptions) => Error;

/** Asks until the answer is one of the numbers. */
export async function choose(
  { resolutions }: Pick<Problem, "resolutions">,
  ui: Ui,
  undecided: Undecided = ProblemsUndecided,
): Promise<string | null> {
  for (const [at, { plan }] of resolutions.entries()) ui.line(`${at + 1}: ${plan}`);
  for (;;) {
    const answer = (await ask(`Choice (1 to ${resolutions.length}; 1)`, ui, undecided)).trim();
    const chosen = /^\d{0,4}$/.test(answer) ? resolutions[Number(answer || 1) - 1] : undefined;
    if (chosen !== undefined) return chosen.name;
    ui.line(`'${answer}' is not a number from 1 to ${resolutions.length}.`);
  }
}

async function ask(question: string, ui: Ui, undecided: Undecided): Promise<string> {
  try {
    return await ui.ask(question);
  } catch (error) {
    if (CannotAskFor.is(error)) throw undecided({}, { cause: error });
    throw error;
  }
}
