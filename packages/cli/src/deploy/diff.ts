import { open } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import type { Ui } from "../ui/ui.ts";

/** A line of a difference: its text, and `added`, `removed` or nothing. */
export const diffLines = v.array(v.tuple([v.string(), v.nullable(v.string())]));

export type DiffLines = v.InferOutput<typeof diffLines>;

/** What the diff endpoints of configs answer. */
export const configDiff = open({
  diff: diffLines,
  from: v.optional(open({ id: v.string() })),
  error: v.optional(v.nullable(v.string())),
});

export const hasChanges = (lines: DiffLines): boolean => lines.some(([, status]) => status !== null);

/** As upstream prints it: `+ `, `- ` or two blanks before each line. */
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
