import { accessSync, constants } from "node:fs";
import { delimiter, join, relative } from "node:path";
import { shellWord } from "@slipway/kernel/shell";

/** How a reader calls this program: by its name where that is installed, else by its file. */
export function calledAs(
  self: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  from = process.cwd(),
): string {
  const installed = (env.PATH ?? "")
    .split(delimiter)
    .some((dir) => dir !== "" && isProgram(join(dir, "slipway")));
  if (installed) return "slipway";
  const file = self.at(-1) ?? "slipway";
  const near = relative(from, file);
  return `node ${shellWord(near.startsWith("..") ? file : near)}`;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
