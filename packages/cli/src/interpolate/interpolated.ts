import { findAt } from "@slipway/engine/documents/ops";
import type { TypedInput } from "../command.ts";
import { writeDocument } from "../documents/write-document.ts";
import type { Tools } from "../tools.ts";
import { BadPath, VariablesNotFound, VariablesNotUsed } from "./errors.ts";
import { evaluateFile } from "./evaluate-file.ts";

/** Returns what `interpolate` prints: the document, or the value at `--path`; a string there without quotes. */
export async function interpolated(
  file: string,
  given: TypedInput,
  tools: Pick<Tools, "env" | "random" | "clock">,
): Promise<string> {
  const { value, missing, unused } = await evaluateFile(file, given, tools);
  if (given.flag("var-errs") && missing.length > 0) throw VariablesNotFound({ names: missing });
  if (given.flag("var-errs-unused") && unused.length > 0) throw VariablesNotUsed({ names: unused });
  const path = given.text("path");
  if (path === undefined) return writeDocument(value);
  const found = findAt(value, path, (why) => BadPath({ path, why }));
  return typeof found === "string" ? `${found}\n` : writeDocument(found);
}
