import type { Entry, Flag, Model } from "./model.ts";

const quoted = (text: string) => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;

export function fishScript({ globals, entries }: Model): string {
  const lines = [
    "# fish completion for slipway. Load it with: slipway completion fish | source",
    ...globals.map((flag) => option("", flag)),
    ...entries.flatMap(entryLines),
  ];
  return `${lines.join("\n")}\n`;
}

function entryLines({ names, about, flags, below }: Entry): string[] {
  const seen = `__fish_seen_subcommand_from ${names.join(" ")}`;
  const belowNames = below.flatMap((one) => one.names).join(" ");
  return [
    `complete -c slipway -f -n __fish_use_subcommand -a ${names[0]} -d ${quoted(about)}`,
    ...flags.map((flag) => option(seen, flag)),
    ...below.flatMap((one) => [
      `complete -c slipway -f -n ${quoted(`${seen}; and not __fish_seen_subcommand_from ${belowNames}`)} -a ${one.names[0]} -d ${quoted(one.about)}`,
      ...one.flags.map((flag) =>
        option(`${seen}; and __fish_seen_subcommand_from ${one.names.join(" ")}`, flag),
      ),
    ]),
  ];
}

function option(condition: string, { long, short, value, about }: Flag): string {
  const parts = ["complete -c slipway"];
  if (condition !== "") parts.push(`-n ${quoted(condition)}`);
  parts.push(`-l ${long}`);
  if (short !== undefined) parts.push(`-s ${short}`);
  if (value) parts.push("-r");
  parts.push(`-d ${quoted(about)}`);
  return parts.join(" ");
}
