import { parseArgs } from "node:util";
import { errorText, messageTrail } from "@slipway/kernel/errors";
import { BadUsage } from "../errors.ts";
import type { MatrixIo } from "../matrix/cli.ts";
import type { LoadedAdapter } from "./adapters.ts";
import type { MixRow } from "./row.ts";
import { tableText } from "./table.ts";

const helpOf = (adapter: LoadedAdapter | undefined): string => {
  const own = Object.entries(adapter?.options ?? {}).map(([name, line]) => [`--${name} VALUE`, line]);
  const lines = [
    ["--cpi NAME|MODULE", "a CPI beside this program by its name, or the module of any CPI's adapter"],
    ["--json", "the rows as a JSON array, with everything that was seen"],
    ...own,
  ] as const;
  const width = Math.max(...lines.map(([option = ""]) => option.length));
  return `Plays the eight mixes of old (v1) and new (v2) Director, CPI and stemcell with real processes, those of a new caller
also with create-env.

  matrix --cpi NAME|MODULE [--json] [options of the CPI's adapter]

${lines.map(([option = "", line]) => `  ${option.padEnd(width)}  ${line}`).join("\n")}

Exit code 0 if every row agrees with the contract, 1 if one does not, 2 if the mixes could not be played.
`;
};

const intro = (
  vm: string,
): string => `Slipway: the eight mixes of old (v1) and new (v2) Director, CPI and stemcell.
Each row is played for real: Director, CPI and agent are processes, and so is the registry where one is needed.
Old parts are old: a v1 Director says nothing of versions, a v1 CPI reads none, a v1 agent knows no disk hints.
A ${vm} with a disk is deployed, a file written on it, the ${vm} recreated, the disk replaced by a larger one,
the ${vm} stopped and everything deleted. What each part got and kept is looked at from outside at every step.

`;

export interface CloudChoice {
  readonly adapter: LoadedAdapter;
  /** Values of the adapter's options. */
  readonly options: Readonly<Record<string, string | undefined>>;
}

/** Dependencies of the command: where adapters come from, and how mixes are played. */
export interface MixesMeans {
  readonly load: (cpi: string) => Promise<LoadedAdapter>;
  readonly run: (choice: CloudChoice, onRow: (row: MixRow) => void) => Promise<readonly MixRow[]>;
}

/** Returns the exit code. */
export async function mixesCommand(
  argv: readonly string[],
  { load, run }: MixesMeans,
  io: MatrixIo,
): Promise<number> {
  try {
    const { cpi } = parseArgs({ args: [...argv], options: COMMON, strict: false }).values;
    const adapter = typeof cpi === "string" ? await load(cpi) : undefined;
    const { json, help, options } = optionsOf(argv, adapter);
    if (help) {
      io.out(helpOf(adapter));
      return 0;
    }
    if (adapter === undefined) throw BadUsage({ why: "--cpi must name the CPI to run the mixes with" });
    if (!json) io.out(intro(adapter.vm));
    const rows = await run({ adapter, options }, (row) => {
      if (!json) io.err(`${nameOf(row)}: ${row.agrees ? "agrees" : "does not agree"} (${row.seconds} s)\n`);
    });
    io.out(json ? `${JSON.stringify(rows, null, 2)}\n` : `\n${tableText(rows)}\n\n${verdict(rows)}`);
    return rows.every(({ agrees }) => agrees) ? 0 : 1;
  } catch (error) {
    io.err(`${errorText(error)}\n`);
    return 2;
  }
}

const nameOf = (row: MixRow): string =>
  `${row.deployer} v${row.director}, CPI v${row.cpi}, stemcell v${row.stemcell}${row.agent === "first v2" ? " of 2018" : ""}`;

function verdict(rows: readonly MixRow[]): string {
  const agreeing = rows.filter(({ agrees }) => agrees);
  const lines = [`${agreeing.length} of ${rows.length} rows agree with the contract.`];
  const without = agreeing.filter(({ calls }) => calls.every(({ after }) => after === "not started"));
  if (agreeing.length > 0)
    lines.push(
      `The registry was used in ${agreeing.length - without.length} of them; in ${without.length} it was never started.`,
    );
  for (const row of rows.filter(({ agrees }) => !agrees))
    lines.push("", `${nameOf(row)}:`, ...row.problems.map((problem) => `  ${problem}`));
  return `${lines.join("\n")}\n`;
}

const COMMON = {
  json: { type: "boolean" },
  help: { type: "boolean", short: "h" },
  cpi: { type: "string" },
} as const;

function optionsOf(argv: readonly string[], adapter: LoadedAdapter | undefined) {
  const own = Object.keys(adapter?.options ?? {}).map((name) => [name, { type: "string" }] as const);
  const values = wordsOf(argv, Object.fromEntries(own));
  const { json, help } = values;
  const options = Object.fromEntries(own.map(([name]) => [name, values[name] as string | undefined]));
  return { json: json === true, help: help === true, options };
}

function wordsOf(argv: readonly string[], own: Readonly<Record<string, { readonly type: "string" }>>) {
  try {
    return parseArgs({ args: [...argv], options: { ...own, ...COMMON } }).values as Readonly<
      Record<string, unknown>
    >;
  } catch (cause) {
    throw BadUsage({ why: messageTrail(cause) });
  }
}
