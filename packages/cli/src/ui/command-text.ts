import { accessSync, constants } from "node:fs";
import { delimiter, join, relative } from "node:path";
import { shellWord } from "@slipway/kernel/shell";

type Env = Readonly<Record<string, string | undefined>>;

/** How a reader calls this program: by its name where that is installed, by npm in a clone, else by its file. */
export function calledAs(self: readonly string[], env: Env, from = process.cwd()): string {
  if (isInstalled("slipway", env)) return "slipway";
  // Set by tools/run.mjs, the entry of every npm script.
  if (env.SLIPWAY_BY_NPM !== undefined) return "npm run -s slipway --";
  const file = self.at(-1);
  if (file === undefined) return "slipway";
  const near = relative(from, file);
  return `node ${shellWord(near.startsWith("..") ? file : near)}`;
}

/** Reports whether the user's shell finds a program. Directories that npm adds for its scripts do not count. */
export const isInstalled = (name: string, env: Env): boolean =>
  (env.PATH ?? "")
    .split(delimiter)
    .some((dir) => dir !== "" && !dir.includes("node_modules") && isProgram(join(dir, name)));

export interface CommandText {
  readonly self: readonly string[];
  readonly env: Env;
  /** Undefined before it is known. */
  readonly command: string | undefined;
}

/** Rewrites commands in a text as this reader would type them: after `npm start`, `slipway up --port N` reads otherwise. */
export function rewriteCommands(text: string, { self, env, command }: CommandText): string {
  const again = env.SLIPWAY_BY_NPM === "start" ? "npm start --" : `slipway ${command}`;
  // A Director's advice names the commands of upstream's CLI, which `slipway` has too.
  const ours = text.replaceAll("`bosh ", "`slipway ");
  const own =
    command === "demo"
      ? ours.replaceAll("`slipway up --", `\`${again} --`).replaceAll("`slipway demo --", `\`${again} --`)
      : ours;
  const name = calledAs(self, env);
  return name === "slipway" ? own : own.replaceAll("`slipway ", `\`${name} `);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
