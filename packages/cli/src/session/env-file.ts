import { readFile } from "node:fs/promises";
import { messageTrail, systemCode } from "@slipway/kernel/errors";
import { BadEnvFile } from "./errors.ts";

/** What `slipway up` says of its Director: shell lines, of which only plain assignments count. */
export async function readEnvFile(path: string): Promise<Readonly<Record<string, string>> | undefined> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (cause) {
    if (systemCode(cause) === "ENOENT") return undefined;
    throw BadEnvFile({ path, why: messageTrail(cause) });
  }
  const found: [string, string][] = [];
  for (const line of text.split("\n")) {
    const [, name, word = ""] = /^(?:export\s+)?([A-Z_][A-Z0-9_]*)=(.*)$/.exec(line.trim()) ?? [];
    if (name !== undefined) found.push([name, await wordValue(word, path)]);
  }
  return Object.fromEntries(found);
}

async function wordValue(word: string, path: string): Promise<string> {
  const bare = /^"(.*)"$/.exec(word)?.[1] ?? word;
  const file = /^\$\((?:cat |<)(.+)\)$/.exec(bare)?.[1];
  if (file === undefined) return unquoted(word);
  try {
    return (await readFile(unquoted(file.trim()), "utf8")).trimEnd();
  } catch (cause) {
    throw BadEnvFile({ path, why: messageTrail(cause) });
  }
}

/** `'it'\''s'`, `"it"`, or the word itself. */
function unquoted(word: string): string {
  if (/^'.*'$/.test(word)) return word.slice(1, -1).replaceAll("'\\''", "'");
  return /^"(.*)"$/.exec(word)?.[1]?.replace(/\\(["\\$`])/g, "$1") ?? word;
}
