import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { FileUnreadable } from "./errors.ts";

/** A file as text; `~/` is the user's home, as shells do not see it in `--option=~/x`. */
export async function readText(what: string, path: string): Promise<string> {
  try {
    return (await readFile(expanded(path))).toString("utf8");
  } catch (cause) {
    throw FileUnreadable({ what, path }, { cause });
  }
}

/** The same, where `-` means standard input. */
export async function readTextOrInput(what: string, path: string): Promise<string> {
  if (path !== "-") return readText(what, path);
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString("utf8");
}

export const expanded = (path: string): string =>
  path.startsWith("~/") ? join(homedir(), path.slice(2)) : path;
