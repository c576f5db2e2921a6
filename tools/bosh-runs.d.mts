export interface Flag {
  readonly name: string;
  readonly short?: string | undefined;
  readonly takes: boolean;
}
export interface Help {
  readonly globals: readonly Flag[];
  readonly commands: readonly {
    readonly name: string;
    readonly aliases: readonly string[];
    readonly flags: readonly Flag[];
  }[];
}
export interface Run {
  readonly command: string;
  readonly flags: readonly string[];
  readonly code: number;
  readonly story: string;
  readonly test: string;
  /** Its last words, if it failed. */
  readonly said: string;
}
/** Why no run with these flags ends with 0. */
export interface FlagVerdict {
  readonly commands: readonly string[];
  readonly flags: readonly string[];
  readonly why: string;
  /** Who has tried, and with which words it ended. */
  readonly story: string;
  readonly test: string;
  readonly says: string;
}
export type Claimed = Readonly<Record<string, Readonly<Record<string, string | null>>>>;
export declare function parsedRun(
  args: readonly string[],
  help: Help,
): Pick<Run, "command" | "flags"> | undefined;
export declare function flagsRun(help: Help, runs: readonly Run[]): Claimed;
export declare function unheld(all: {
  readonly help: Help;
  readonly rows: readonly {
    readonly name: string;
    readonly story: string;
    readonly verdict: string;
    readonly test?: string;
    readonly says?: string;
  }[];
  readonly claimed: Claimed;
  readonly verdicts: readonly FlagVerdict[];
  readonly runs: readonly Run[];
}): readonly string[];
export declare function unjudged(
  claimed: Claimed,
  verdicts: readonly Pick<FlagVerdict, "commands" | "flags">[],
): readonly string[];
