import type { Flag, Help } from "./bosh-runs.mjs";

export declare function listedCommands(
  help: string,
): readonly { readonly name: string; readonly aliases: readonly string[] }[];
export declare function listedFlags(help: string, command: string | undefined): readonly Flag[];
export declare function boshHelp(bosh: string): Help;
