import { nearNames } from "@slipway/protocol/near-names";
import { Command as Commander, CommanderError, Option as CommanderOption } from "commander";
import type { Command, HelpTopic, Option, TypedInput } from "../command.ts";
import { BadUsage, NoSuchCommand } from "./errors.ts";
import { GLOBAL_OPTIONS, type Globals, globalsOf } from "./globals.ts";
import { nothingGiven, typedOptions, withGlobals } from "./typed-options.ts";

export interface ParseIo {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Help and version are written here. */
  write(text: string): void;
  readonly columns: number | undefined;
}

export type Parsed =
  | { readonly kind: "run"; readonly command: Command; readonly given: TypedInput; readonly globals: Globals }
  /** Help or version, which have been written. */
  | { readonly kind: "said"; readonly code: number };

const TOPICS: readonly HelpTopic[] = [
  "this machine",
  "deployments",
  "configuration",
  "release authors",
  "inspect",
  "documents",
];

/** Parses the command line. A mistake is `BadUsage` or `NoSuchCommand`. */
export function parse(
  argv: readonly string[],
  commands: readonly Command[],
  version: string,
  io: ParseIo,
): Parsed {
  let parsed: Parsed = { kind: "said", code: 0 };
  const program = root(version, commands, io);
  const chosen = (command: Command, commander: Commander) => {
    const given = withGlobals(typedOptions(commander), typedOptions(program), (name) =>
      isGlobal(name, command),
    );
    parsed = { kind: "run", command, given, globals: globalsOf(given, io.env) };
  };
  const name = nameMeant(argv);
  const meant = commandsNamed(name, commands);
  // All commands are added only if none was named; their options are then not shown.
  const listed = meant.length > 0 ? meant : commands;
  const sorted = [...listed].sort((a, b) => TOPICS.indexOf(a.topic) - TOPICS.indexOf(b.topic));
  for (const command of sorted) add(command, program, chosen, meant.length > 0, commands);
  try {
    program.parse(separated(argv), { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Asked for with --help it is an answer, without a command it is a mistake.
    return { kind: "said", code: error.exitCode === 0 ? 0 : 2 };
  }
  return parsed;
}

/** The first word that is neither an option nor the value of one. */
function nameMeant(argv: readonly string[]): string | undefined {
  const takesValue = new Set(
    GLOBAL_OPTIONS.filter(({ flags }) => flags.includes("<")).flatMap(
      ({ flags }) => flags.match(/--?[\w-]+/g) ?? [],
    ),
  );
  const words = argv.filter((word, at) => !word.startsWith("-") && !takesValue.has(argv[at - 1] ?? ""));
  return words[0] === "help" ? words[1] : words[0];
}

/** Making them all would take longer than the rest. */
const commandsNamed = (word: string | undefined, commands: readonly Command[]): readonly Command[] =>
  word === undefined
    ? []
    : commands.filter(({ name, aliases = [] }) => name.split(" ")[0] === word || aliases.includes(word));

/** Reads only bare flags, such as `--json`, anywhere in the line: even a mistake is then printed as JSON. */
export function bareGlobals(argv: readonly string[], env: ParseIo["env"]): Globals {
  const typed: TypedInput = { ...nothingGiven, flag: (option) => argv.includes(`--${option}`) };
  return globalsOf(typed, env);
}

function root(version: string, commands: readonly Command[], io: ParseIo): Commander {
  const program = new Commander("slipway")
    .usage("[options] <command>")
    .description("A cloud on this machine in one command, and the CLI for any BOSH Director.")
    .version(version, "-v, --version", "print the version")
    .helpOption("-h, --help", "print help; also after a command")
    .helpCommand("help [command]", "print help of a command")
    .enablePositionalOptions()
    .exitOverride((error) => refuse(error, "slipway", commands))
    .configureHelp({ subcommandTerm: termOf, ...(io.columns === undefined ? {} : { helpWidth: io.columns }) })
    .configureOutput({
      writeOut: (text) => io.write(text),
      writeErr: (text) => io.write(text),
      outputError: () => {},
    })
    .showSuggestionAfterError(false);
  for (const option of GLOBAL_OPTIONS) program.addOption(optionOf(option));
  return program;
}

type Chosen = (command: Command, commander: Commander) => void;

/** A name with a blank is a command of its first word. */
function add(
  command: Command,
  program: Commander,
  chosen: Chosen,
  whole: boolean,
  commands: readonly Command[],
): void {
  const [first = "", second] = command.name.split(" ");
  if (second === undefined) {
    addTo(program, first, { aliases: command.aliases ?? [], hidden: false, whole }, command, chosen);
    return;
  }
  addTo(
    groupOf(first, command.topic, program, commands),
    second,
    { aliases: [], hidden: false, whole },
    command,
    chosen,
  );
  // Its other names are whole ones: `inspect-local-stemcell`.
  for (const alias of command.aliases ?? [])
    addTo(program, alias, { aliases: [], hidden: true, whole }, command, chosen);
}

function addTo(
  parent: Commander,
  name: string,
  { aliases, hidden, whole }: { aliases: readonly string[]; hidden: boolean; whole: boolean },
  command: Command,
  chosen: Chosen,
): void {
  const commander = parent
    .command(name, { hidden })
    .description(command.summary)
    .helpGroup(`${title(command.topic)}:`)
    .usage(usageOf(command))
    .exitOverride((error) => refuse(error, `slipway ${command.name}`, [], command.options))
    .addHelpText("after", examplesOf(command))
    .addHelpText("after", "\nOptions for all commands: slipway --help");
  for (const alias of aliases) commander.alias(alias);
  for (const { name, about } of command.arguments ?? []) commander.argument(name, about);
  if (!whole) return;
  const own = (command.options ?? []).map(optionOf);
  for (const option of own) commander.addOption(option);
  for (const option of GLOBAL_OPTIONS.map(optionOf))
    if (!own.some((other) => clash(option, other))) commander.addOption(option.hideHelp());
  commander.action(() => chosen(command, commander));
}

function groupOf(
  name: string,
  topic: HelpTopic,
  program: Commander,
  commands: readonly Command[],
): Commander {
  const existing = program.commands.find((one) => one.name() === name);
  if (existing !== undefined) return existing;
  return program
    .command(name)
    .description(`commands for a ${name}: slipway ${name} --help`)
    .helpGroup(`${title(topic)}:`)
    .exitOverride((error) => refuse(error, `slipway ${name}`, commands, [], `${name} `))
    .usage("<command>");
}

/** Without the options, which nearly every command has. */
const termOf = (command: Commander) =>
  [
    [command.name(), ...command.aliases()].join(", "),
    ...command.registeredArguments.map((argument) => {
      const text = `${argument.name()}${argument.variadic ? "..." : ""}`;
      return argument.required ? `<${text}>` : `[${text}]`;
    }),
  ].join(" ");

const usageOf = (command: Command) =>
  ["[options]", ...(command.arguments ?? []).map(({ name }) => name)].join(" ");

const title = (topic: HelpTopic) => `${topic.charAt(0).toUpperCase()}${topic.slice(1)}`;

const longName = ({ flags }: Option) => /--([\w-]+)/.exec(flags)?.[1];

const isGlobal = (name: string, command: Command): boolean =>
  GLOBAL_OPTIONS.some((option) => longName(option) === name) &&
  !(command.options ?? []).some((option) => longName(option) === name);

/** The command's own meaning of a letter or a name goes before the global one. */
const clash = (one: CommanderOption, other: CommanderOption) =>
  one.attributeName() === other.attributeName() || (one.short !== undefined && one.short === other.short);

function optionOf({ flags, about, repeats }: Option): CommanderOption {
  const option = new CommanderOption(flags, about);
  if (repeats === true) {
    option.argParser((value: string, before: unknown) => [...(Array.isArray(before) ? before : []), value]);
  }
  return option;
}

/** Go's flags also take `-o=file`. */
function separated(argv: readonly string[]): string[] {
  const end = argv.indexOf("--");
  return argv.flatMap((word, at) => {
    const match = end >= 0 && at >= end ? null : /^(-[A-Za-z])=([\s\S]*)$/.exec(word);
    return match === null ? [word] : [match[1] ?? "", match[2] ?? ""];
  });
}

/** Returns the examples that help shows under the options. */
function examplesOf({ examples = [] }: Command): string {
  if (examples.length === 0) return "";
  const width = Math.max(...examples.map(([typed]) => typed.length));
  const lines = examples.map(([typed, about]) =>
    about === "" ? `  ${typed}` : `  ${typed.padEnd(width)}  # ${about}`,
  );
  return ["", "Examples:", ...lines].join("\n");
}

function refuse(
  error: CommanderError,
  called: string,
  commands: readonly Command[],
  options: readonly Option[] = [],
  group = "",
): never {
  if (error.exitCode === 0 || error.code === "commander.help") throw error;
  const problem = error.message.replace(/^error: /, "");
  const option = /^unknown option '(--[^'=]*)/.exec(problem)?.[1];
  const unknown = /^unknown command '(.*)'/.exec(problem)?.[1];
  if (unknown === undefined) {
    const flags = [...options, ...GLOBAL_OPTIONS].flatMap(({ flags: all }) => all.match(/--[\w-]+/g) ?? []);
    throw BadUsage({ called, problem, near: option === undefined ? [] : nearNames(option, flags) });
  }
  const names = commands.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
  throw NoSuchCommand({ name: `${group}${unknown}`, near: nearNames(`${group}${unknown}`, names) });
}
