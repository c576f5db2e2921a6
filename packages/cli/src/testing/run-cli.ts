import { systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import type { Command } from "../command.ts";
import { COMMANDS } from "../commands.ts";
import { homeOf } from "../home/home.ts";
import { main } from "../main.ts";

export interface CliResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface RunCliOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly home?: string;
  readonly commands?: readonly Command[];
  readonly stop?: AbortSignal;
}

/** The program in this process, with its output kept. Its stdout is a pipe; `--tty` makes it a terminal. */
export async function runCli(argv: readonly string[], options: RunCliOptions = {}): Promise<CliResult> {
  const out: string[] = [];
  const err: string[] = [];
  const code = await main(options.commands ?? COMMANDS, {
    argv,
    version: "0.0.0",
    env: options.env ?? {},
    out: { write: (text) => out.push(text) },
    err: { write: (text) => err.push(text) },
    input: undefined,
    clock: systemClock,
    random: systemRandom,
    stop: options.stop ?? new AbortController().signal,
    home: homeOf({ SLIPWAY_HOME: options.home ?? "/nonexistent" }, 1),
    programs: { self: [], agent: "", registry: "", renderer: "", demo: { release: "", manifest: "" } },
  });
  return { code, out: out.join(""), err: err.join("") };
}
