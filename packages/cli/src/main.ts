import type { ReadStream } from "node:tty";
import { errorText, SlipwayError, toError } from "@slipway/kernel/errors";
import type { Command } from "./command.ts";
import { BadArgument } from "./parse/errors.ts";
import type { Globals } from "./parse/globals.ts";
import { bareGlobals, type Parsed, parse } from "./parse/parse.ts";
import { type ToolInputs, toolsFor } from "./session/tools.ts";
import { rewriteCommands } from "./ui/command-text.ts";
import { Interrupted } from "./ui/errors.ts";
import { Terminal, type TerminalOutput } from "./ui/terminal.ts";

export interface MainInputs extends ToolInputs {
  readonly argv: readonly string[];
  readonly version: string;
  readonly out: TerminalOutput;
  readonly err: TerminalOutput;
  readonly input: ReadStream | undefined;
}

const FAILED = 1;
const MISUSED = 2;
const INTERRUPTED = 130;

/** The whole program; resolves to the exit code. */
export async function main(commands: readonly Command[], around: MainInputs): Promise<number> {
  const { argv, env, version, out } = around;
  let parsed: Parsed;
  try {
    const columns = around.out.isTTY === true ? around.out.columns : undefined;
    parsed = parse(argv, commands, version, { env, columns, write: (text) => void out.write(text) });
  } catch (error) {
    const ui = uiFor(around, bareGlobals(argv, env));
    ui.failure(inWordsOf(around, undefined, error), MISUSED);
    ui.close();
    return MISUSED;
  }
  if (parsed.kind === "said") return parsed.code;
  const { command, given, globals } = parsed;
  const ui = uiFor(around, globals);
  // `up` and `demo` speak for themselves.
  const { tools, close } = toolsFor(around, globals, ui, command.topic === "this machine");
  let code: number;
  try {
    code = await command.run(given, tools);
    if (code === 0 && command.topic !== "this machine") ui.aside("Succeeded");
  } catch (error) {
    code = codeOf(error, around.stop);
    if (code !== INTERRUPTED) ui.failure(inWordsOf(around, command, error), code);
  } finally {
    close();
  }
  ui.close();
  return code;
}

function codeOf(error: unknown, stop: AbortSignal): number {
  if (error instanceof Interrupted || stop.aborted) return INTERRUPTED;
  return error instanceof SlipwayError && error.typed ? MISUSED : FAILED;
}

/** Returns the error and the advice what to type next, with the program's name as the user typed it. */
function inWordsOf({ programs, env }: MainInputs, command: Command | undefined, error: unknown): string {
  const text = errorText(toError(error));
  const whole =
    command !== undefined && BadArgument.is(error)
      ? `${text}\n  next: \`slipway ${command.name} --help\` shows what it takes.`
      : text;
  return rewriteCommands(whole, { self: programs.self, env, command: command?.name });
}

function uiFor({ out, err, input, stop, env }: MainInputs, globals: Globals): Terminal {
  const columns = Number(env.COLUMNS);
  return new Terminal({
    out,
    err,
    input,
    stop,
    json: globals.json,
    tty: globals.tty,
    color: globals.color,
    nonInteractive: globals.nonInteractive,
    only: globals.columns,
    columns: Number.isSafeInteger(columns) && columns > 0 ? columns : undefined,
  });
}
