import type { TypedInput } from "../../command.ts";

/** Returns typed options without a parser, by their long names. */
export function typedOptionsOf(
  options: Readonly<Record<string, string | readonly string[] | true>> = {},
  args: readonly string[] = [],
): TypedInput {
  const texts = (option: string) => {
    const value = options[option];
    return typeof value === "string" ? [value] : value === true || value === undefined ? [] : value;
  };
  return {
    argument: (place) => args[place],
    argumentsFrom: (place) => args.slice(place),
    text: (option) => texts(option).at(-1),
    texts,
    flag: (option) => options[option] === true,
  };
}
