import type { DiffLines } from "@slipway/protocol/director/diff";
import type { Ui } from "../ui/ui.ts";

export const hasChanges = (lines: DiffLines): boolean => lines.some(([, status]) => status !== null);

/** Prints a diff as upstream does: `+ `, `- ` or two blanks before each line. */
export function printDiff(ui: Ui, lines: DiffLines): void {
  for (const [text, status] of lines) {
    if (status === "added") ui.line(ui.paint.green(`+ ${text}`));
    else if (status === "removed") ui.line(ui.paint.red(`- ${text}`));
    else ui.line(`  ${text}`);
  }
}

export const diffText = (lines: DiffLines): string =>
  lines
    .map(([text, status]) => `${status === "added" ? "+" : status === "removed" ? "-" : " "} ${text}\n`)
    .join("");
