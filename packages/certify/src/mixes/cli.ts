import { parseArgs } from "node:util";
import { errorText, messageTrail } from "@slipway/kernel/errors";
import { BadUsage } from "../errors.ts";
import type { Io } from "../matrix/cli.ts";
import type { Row } from "./row.ts";
import { tableText } from "./table.ts";

const HELP = `Plays the eight mixes of old (v1) and new (v2) Director, CPI and stemcell with real processes.

  matrix [--json]

  --json  the rows as a JSON array, with everything that was seen

Exit code 0 if every row agrees with the contract, 1 if one does not, 2 if the mixes could not be played.
`;

const INTRO = `Slipway: the eight mixes of old (v1) and new (v2) Director, CPI and stemcell.
Each row is played for real: Director, CPI and agent are processes, and so is the registry where one is needed.
A sandbox with a disk is deployed, a file written on it, the sandbox recreated, the disk replaced by a larger one,
the sandbox stopped and everything deleted. What each part got and kept is looked at from outside at every step.

`;

/** Returns the exit code. */
export async function mixesCommand(
  argv: readonly string[],
  run: (onRow: (row: Row) => void) => Promise<readonly Row[]>,
  io: Io,
): Promise<number> {
  try {
    const { json, help } = optionsOf(argv);
    if (help) {
      io.out(HELP);
      return 0;
    }
    if (!json) io.out(INTRO);
    const rows = await run((row) => {
      if (!json) io.err(`${nameOf(row)}: ${row.agrees ? "agrees" : "does not agree"} (${row.seconds} s)\n`);
    });
    io.out(json ? `${JSON.stringify(rows, null, 2)}\n` : `\n${tableText(rows)}\n\n${verdict(rows)}`);
    return rows.every(({ agrees }) => agrees) ? 0 : 1;
  } catch (error) {
    io.err(`${errorText(error)}\n`);
    return 2;
  }
}

const nameOf = (row: Row): string => `Director v${row.director}, CPI v${row.cpi}, stemcell v${row.stemcell}`;

function verdict(rows: readonly Row[]): string {
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

function optionsOf(argv: readonly string[]): { json: boolean; help: boolean } {
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: { json: { type: "boolean" }, help: { type: "boolean", short: "h" } },
    });
    return { json: values.json === true, help: values.help === true };
  } catch (cause) {
    throw BadUsage({ why: messageTrail(cause) });
  }
}
