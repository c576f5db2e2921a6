import type { Tools } from "./tools.ts";

/** An argument that has a place: `<manifest>` is needed, `[slug]` is not, `[slug...]` takes all that follow. */
export interface CommandArgument {
  readonly name: string;
  readonly about: string;
  /** Kind of names that shells complete here, from the Director's last known ones. */
  readonly completes?: Completes;
}

export type Completes = "deployment" | "instance" | "task" | "stemcell";

/** An option in upstream's spelling: `-o, --ops-file <path>`; without `<...>` it is a switch. */
export interface Option {
  readonly flags: string;
  readonly about: string;
  /** May be given several times; all of them are kept, in order. */
  readonly repeats?: boolean;
  readonly completes?: Completes;
}

/** Heading under which `slipway help` lists a command. */
export type HelpTopic =
  | "this machine"
  | "deployments"
  | "configuration"
  | "release authors"
  | "inspect"
  | "documents";

/** One command. The table of all is `commands.ts`; help and shell completion are made from it. */
export interface Command {
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly summary: string;
  readonly topic: HelpTopic;
  readonly arguments?: readonly CommandArgument[];
  readonly options?: readonly Option[];
  /** Example command lines with a short explanation each; shown by `--help`. */
  readonly examples?: readonly (readonly [typed: string, about: string])[];
  /** Resolves to the exit code. What it throws is printed once, and the exit code is 1. */
  run(given: TypedInput, tools: Tools): Promise<number>;
}

/** Arguments and options that the user typed, by the long names of the options. */
export interface TypedInput {
  /** `given.argument(0)`; undefined when it was left out. */
  argument(place: number): string | undefined;
  /** All arguments from a place on: of `[slug...]`. */
  argumentsFrom(place: number): readonly string[];
  /** The value of an option: `given.text("ops-file")`. */
  text(option: string): string | undefined;
  /** All values of an option that repeats. */
  texts(option: string): readonly string[];
  flag(option: string): boolean;
}
