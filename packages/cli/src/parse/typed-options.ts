import type { Command as Commander } from "commander";
import type { TypedInput } from "../command.ts";

/** Returns what the user typed, without commander's defaults. */
export function typedOptions(commander: Commander): TypedInput {
  const typed = (option: string): unknown => {
    const key = keyOf(option);
    return commander.getOptionValueSource(key) === "cli" ? commander.getOptionValue(key) : undefined;
  };
  const texts = (option: string): readonly string[] => {
    const value = typed(option);
    if (Array.isArray(value)) return value.filter((one) => typeof one === "string");
    return typeof value === "string" ? [value] : [];
  };
  return {
    argument: (place) => commander.args[place],
    argumentsFrom: (place) => commander.args.slice(place),
    text: (option) => texts(option).at(-1),
    texts,
    flag: (option) => {
      const value = typed(option);
      // `--no-color` is kept by commander as `color: false`.
      return option.startsWith("no-") ? value === false : value !== undefined && value !== false;
    },
  };
}

/** The name commander keeps an option under: `skip-drain` as `skipDrain`, `no-color` as `color`. */
function keyOf(option: string): string {
  return option.replace(/^no-/, "").replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}

/** Merges global options before the command's name with those after it, unless the command has its own of that name. */
export function withGlobals(
  own: TypedInput,
  before: TypedInput,
  isGlobal: (option: string) => boolean,
): TypedInput {
  const also = (option: string): TypedInput => (isGlobal(option) ? before : nothingGiven);
  return {
    ...own,
    text: (option) => own.text(option) ?? also(option).text(option),
    texts: (option) => [...also(option).texts(option), ...own.texts(option)],
    flag: (option) => own.flag(option) || also(option).flag(option),
  };
}

/** Nothing was typed. */
export const nothingGiven: TypedInput = {
  argument: () => undefined,
  argumentsFrom: () => [],
  text: () => undefined,
  texts: () => [],
  flag: () => false,
};
