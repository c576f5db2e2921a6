import { existsSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemExec } from "@slipway/kernel/exec";
import { expect } from "vitest";
import { bashScript } from "../bash.ts";
import { fishScript } from "../fish.ts";
import type { Model } from "../model.ts";
import { zshScript } from "../zsh.ts";

export type Shell = "bash" | "zsh" | "fish";
export const SHELLS: readonly Shell[] = ["bash", "zsh", "fish"];
const SCRIPTS: Readonly<Record<Shell, (model: Model) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

export const isHere = (shell: Shell): boolean =>
  ["/bin", "/usr/bin", "/usr/local/bin"].some((dir) => existsSync(join(dir, shell)));

/** Splits a line as bash does for completion: also at `=`. The last word is the one to complete. */
const BASH = `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _slipway; printf "%s\\n" "\${COMPREPLY[@]}"`;
const bashWords = (line: string) => line.split(" ").flatMap((word) => word.split(/(?==)|(?<==)/));

const FISH = "source $argv[1]; complete -C $argv[2]";

/**
 * zsh completes at a terminal only: the line is typed into one, with TAB behind it, and whatever is offered is written
 * down. Arguments: the script, the file for it, the line, and where zsh keeps what it knows of its own completions.
 */
const ZSH = `zmodload zsh/zpty
zpty typed zsh -f -i
zpty -w typed "PS1=; autoload -Uz compinit; compinit -u -d $4; source $1"
zpty -w typed 'compadd() {
  local -a hits
  (( \${@[(I)-[OAD]*]} )) || { builtin compadd -O hits "$@"; print -rl -- $hits >> '$2'; }
  builtin compadd "$@"
}'
zpty -w typed 'over() { exit }; zle -N over; bindkey "^I" complete-word "^T" over'
zpty -w -n typed $3$'\\t\\x14'
while zpty -r typed line; do :; done
`;

/** Asks a real shell what it offers at the end of a line, in alphabetical order. */
export class Completing {
  readonly #dir: string;
  readonly #shell: Shell;
  env: Readonly<Record<string, string>> = {};

  private constructor(dir: string, shell: Shell) {
    this.#dir = dir;
    this.#shell = shell;
  }

  static async in(dir: string, shell: Shell, model: Model): Promise<Completing> {
    const made = new Completing(dir, shell);
    await writeFile(made.#script, SCRIPTS[shell](model));
    return made;
  }

  get #script(): string {
    return join(this.#dir, `slipway.${this.#shell}`);
  }

  async offered(line: string): Promise<readonly string[]> {
    const said = await { bash: this.#bash, zsh: this.#zsh, fish: this.#fish }[this.#shell].call(
      this,
      `slipway ${line}`,
    );
    return said
      .split("\n")
      .map((offer) => offer.split("\t")[0] ?? "")
      .filter((offer) => offer !== "")
      .sort();
  }

  #bash(line: string): Promise<string> {
    return this.#run("bash", "--norc", "-c", BASH, "bash", this.#script, ...bashWords(line));
  }

  #fish(line: string): Promise<string> {
    return this.#run("fish", "--no-config", "-c", FISH, "--", this.#script, line);
  }

  async #zsh(line: string): Promise<string> {
    const offers = join(this.#dir, "offers");
    await this.#run("zsh", "-f", "-c", ZSH, "zsh", this.#script, offers, line, join(this.#dir, "known"));
    const said = await readFile(offers, "utf8").catch(() => "");
    await rm(offers, { force: true });
    return said;
  }

  async #run(program: string, ...args: readonly string[]): Promise<string> {
    const env = {
      PATH: `${this.#dir}:/usr/bin:/bin`,
      HOME: this.#dir,
      SLIPWAY_HOME: this.#dir,
      TERM: "xterm",
    };
    const { code, stdout, stderr } = await systemExec(program, args, { env: { ...env, ...this.env } });
    expect([code, stderr]).toEqual([0, ""]);
    return stdout;
  }
}
