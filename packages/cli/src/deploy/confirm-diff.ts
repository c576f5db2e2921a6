import type { DiffLines } from "@slipway/protocol/director/diff";
import { requireConfirmation } from "../ui/require-confirmation.ts";
import type { Ui } from "../ui/ui.ts";
import { hasChanges, printDiff } from "./diff.ts";

/** A config is saved without a question when nothing would change: the same content makes no new version. */
export async function confirmDiff(
  ui: Ui,
  diff: DiffLines,
  beforeAsking = () => Promise.resolve(),
): Promise<void> {
  printDiff(ui, diff);
  if (!hasChanges(diff)) return ui.line("No changes.");
  await beforeAsking();
  await requireConfirmation(ui);
}
