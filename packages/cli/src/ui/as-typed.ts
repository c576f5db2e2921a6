import { accessSync, constants } from "node:fs";
import { delimiter, join, relative } from "node:path";
import { shellWord } from "@slipway/kernel/shell";

type Env = Readonly<Record<string, string | undefined>>;

/** How a reader calls this program: by its name where that is installed, by npm in a clone, else by its file. */
export function calledAs(self: readonly string[], env: Env, from = process.cwd()): string {
  const installed = (env.PATH ?? "")
    .split(delimiter)
    .some((dir) => dir !== "" && !dir.includes("node_modules") && isProgram(join(dir, "slipway")));
  if (installed) return "slipway";
  // Set by tools/run.mjs, the entry of every npm script.
  if (env.SLIPWAY_BY_NPM !== undefined) return "npm run -s slipway --";
  const file = self.at(-1);
  if (file === undefined) return "slipway";
  const near = relative(from, file);
  return `node ${shellWord(near.startsWith("..") ? file : near)}`;
}

export interface Typed {
  readonly self: readonly string[];
  readonly env: Env;
  /** Undefined before it is known. */
  readonly command: string | undefined;
}

/** Rewrites commands in a text as this reader would type them: after `npm start`, `slipway up --port N` reads otherwise. */
export function asTyped(text: string, { self, env, command }: Typed): string {
  const again = env.SLIPWAY_BY_NPM === "start" ? "npm start --" : `slipway ${command}`;
  const own = command === "demo" ? text.replaceAll("`slipway up --", `\`${again} --`) : text;
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
