import { Stopped } from "./errors.ts";
import type { Ui } from "./ui.ts";

/** Asks, and ends the command when the answer is no. */
export async function requireConfirmation(ui: Ui, question = "Continue?"): Promise<void> {
  if (!(await ui.confirm(question))) throw Stopped({});
}
