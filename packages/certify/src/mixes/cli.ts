import { parseArgs } from "node:util";
import { errorText, messageTrail } from "@slipway/kernel/errors";
import { BadUsage } from "../errors.ts";
import type { Io } from "../matrix/cli.ts";
import { CLOUDS, type CloudName } from "./programs.ts";
import type { Row } from "./row.ts";
import { tableText } from "./table.ts";

const HELP = `Plays the eight mixes of old (v1) and new (v2) Director, CPI and stemcell with real processes.

  matrix [--cpi local|docker] [--docker-host ADDRESS] [--json]

  --cpi NAME             local: sandboxes of this machine, the default; docker: containers
  --docker-host ADDRESS  an engine of this machine; $DOCKER_HOST or unix:///var/run/docker.sock when left out
  --json                 the rows as a JSON array, with everything that was seen

Exit code 0 if every row agrees with the contract, 1 if one does not, 2 if the mixes could not be played.
`;

const intro = (
  vm: string,
): string => `Slipway: the eight mixes of old (v1) and new (v2) Director, CPI and stemcell.
Each row is played for real: Director, CPI and agent are processes, and so is the registry where one is needed.
A ${vm} with a disk is deployed, a file written on it, the ${vm} recreated, the disk replaced by a larger one,
the ${vm} stopped and everything deleted. What each part got and kept is looked at from outside at every step.

`;

const VMS: Readonly<Record<CloudName, string>> = { local: "sandbox", docker: "container" };

export interface CloudChoice {
  readonly cpi: CloudName;
  readonly dockerHost: string | undefined;
}

/** Returns the exit code. */
export async function mixesCommand(
  argv: readonly string[],
  run: (choice: CloudChoice, onRow: (row: Row) => void) => Promise<readonly Row[]>,
  io: Io,
): Promise<number> {
  try {
    const { json, help, ...choice } = optionsOf(argv);
    if (help) {
      io.out(HELP);
      return 0;
    }
    if (!json) io.out(intro(VMS[choice.cpi]));
    const rows = await run(choice, (row) => {
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

interface Options extends CloudChoice {
  readonly json: boolean;
  readonly help: boolean;
}

function optionsOf(argv: readonly string[]): Options {
  const { json, help, cpi: name, "docker-host": dockerHost } = wordsOf(argv);
  const cpi = CLOUDS.find((one) => one === (name ?? "local"));
  if (cpi === undefined) throw BadUsage({ why: `there is no '${name}' for --cpi: ${CLOUDS.join(" or ")}` });
  if (cpi !== "docker" && dockerHost !== undefined)
    throw BadUsage({ why: "--docker-host is for --cpi docker" });
  return { json: json === true, help: help === true, cpi, dockerHost };
}

function wordsOf(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      options: {
        json: { type: "boolean" },
        help: { type: "boolean", short: "h" },
        cpi: { type: "string" },
        "docker-host": { type: "string" },
      },
    }).values;
  } catch (cause) {
    throw BadUsage({ why: messageTrail(cause) });
  }
}
