import type { Command, Completes, Option } from "../command.ts";
import { GLOBAL_OPTIONS } from "../parse/globals.ts";

/** An option as shells see it. */
export interface Flag {
  readonly long: string;
  readonly short: string | undefined;
  readonly value: boolean;
  readonly about: string;
  /** Kind of names that its value is one of. */
  readonly completes: Completes | undefined;
}

/** A word that can stand at one place of the command line. */
export interface CompletionWord {
  /** `deploy` and its aliases; of `stemcell build` it is `build`. */
  readonly names: readonly string[];
  readonly about: string;
  readonly flags: readonly Flag[];
  /** Kind of names that its first argument is one of. */
  readonly completes: Completes | undefined;
  /** Subcommands: build, inspect and repack for `stemcell`. */
  readonly below: readonly CompletionWord[];
}

/** Words that a shell offers. Made from the table of commands, so that it never falls behind. */
export interface Model {
  readonly globals: readonly Flag[];
  readonly entries: readonly CompletionWord[];
}

export function modelOf(commands: readonly Command[]): Model {
  const blank = ({ name }: Command) => name.includes(" ");
  const groups = new Set(commands.filter(blank).map(({ name }) => name.split(" ")[0] ?? ""));
  const entries = [
    ...commands.filter((command) => !blank(command)).map((command) => entry(command, command.name)),
    ...[...groups].map((group) => groupEntry(group, commands)),
  ];
  const help: Flag = { long: "help", short: "h", value: false, about: "print help", completes: undefined };
  return { globals: [...GLOBAL_OPTIONS.map(flag), help], entries: entries.sort(byName) };
}

const byName = (a: CompletionWord, b: CompletionWord) => ((a.names[0] ?? "") < (b.names[0] ?? "") ? -1 : 1);

const entry = (command: Command, name: string): CompletionWord => ({
  names: [name, ...(name === command.name ? (command.aliases ?? []) : [])],
  about: command.summary,
  flags: (command.options ?? []).map(flag),
  completes: command.arguments?.[0]?.completes,
  below: [],
});

const groupEntry = (group: string, commands: readonly Command[]): CompletionWord => ({
  names: [group],
  about: `commands for a ${group}`,
  flags: [],
  completes: undefined,
  below: commands
    .filter(({ name }) => name.startsWith(`${group} `))
    .map((command) => entry(command, command.name.slice(group.length + 1))),
});

const flag = ({ flags, about, completes }: Option): Flag => ({
  long: /--([\w-]+)/.exec(flags)?.[1] ?? "",
  short: /(?:^|\s)-(\w)\b/.exec(flags)?.[1],
  value: flags.includes("<"),
  about,
  completes,
});
