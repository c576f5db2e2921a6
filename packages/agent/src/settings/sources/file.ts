import { open } from "node:fs/promises";
import { systemCode, toError } from "@slipway/kernel/errors";
import { SourceFailed } from "../errors.ts";
import { LARGEST_DOCUMENT, type SettingsReader, type SourceTools } from "./source.ts";

/** A JSON file. Its path is that of the VM, so it stands under the root. */
export function fileSource(options: { readonly SettingsPath: string }, tools: SourceTools): SettingsReader {
  const name = `File ${options.SettingsPath}`;
  return { name, read: () => readLimited(name, tools.paths.system(options.SettingsPath)) };
}

export async function readLimited(source: string, path: string): Promise<string> {
  try {
    const file = await open(path, "r");
    try {
      const stat = await file.stat();
      if (stat.isDirectory()) throw SourceFailed({ source, why: "it is a directory" });
      if (stat.size > LARGEST_DOCUMENT) throw SourceFailed({ source, why: "it is too large to be settings" });
      return await file.readFile("utf8");
    } finally {
      await file.close();
    }
  } catch (cause) {
    if (SourceFailed.is(cause)) throw cause;
    const why = systemCode(cause) === "ENOENT" ? "it is not there" : toError(cause).message;
    throw SourceFailed({ source, why }, { cause });
  }
}
