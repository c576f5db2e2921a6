import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ifThere } from "@slipway/kernel/files";

/** The files of the console and their content types. No other file is served. */
const CONSOLE_TYPES: Readonly<Record<string, string>> = {
  "page.html": "text/html; charset=utf-8",
  "page.mjs": "text/javascript; charset=utf-8",
  "page.css": "text/css; charset=utf-8",
  "icon.svg": "image/svg+xml",
};

export interface ConsoleFile {
  readonly type: string;
  readonly text: string;
}

/** Reads the files of the console. Undefined if there is no such file, or the Director was installed without them. */
export interface ConsoleFiles {
  file(name: string): Promise<ConsoleFile | undefined>;
}

/** The console in a directory. Files are read once, when they are first asked for. */
export function consoleIn(directory: string): ConsoleFiles {
  const known = new Map<string, Promise<ConsoleFile | undefined>>();
  return {
    file: async (name) => {
      const type = Object.hasOwn(CONSOLE_TYPES, name) ? CONSOLE_TYPES[name] : undefined;
      if (type === undefined) return undefined;
      const reading = known.get(name) ?? readConsoleFile(join(directory, name), type);
      known.set(name, reading);
      const file = await reading;
      if (file === undefined) known.delete(name);
      return file;
    },
  };
}

async function readConsoleFile(path: string, type: string): Promise<ConsoleFile | undefined> {
  const text = await ifThere(readFile(path, "utf8"));
  return text === undefined ? undefined : { type, text };
}

/** The console that is installed beside a program. */
export const consoleBeside = (script: string | undefined): ConsoleFiles | undefined =>
  script === undefined ? undefined : consoleIn(join(dirname(script), "console"));
