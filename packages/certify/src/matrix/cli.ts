import { existsSync } from "node:fs";
import { errorText } from "@slipway/kernel/errors";
import { BadUsage } from "../errors.ts";
import { EIGHT_MIXES } from "./mixes.ts";
import { runMatrix } from "./run.ts";
import { tableText } from "./table.ts";

export interface MatrixIo {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

const HELP = `Plays the eight mixes of Director, CPI and stemcell versions with the tiny CPI and a live registry.

  matrix [--json] [--cpi FILE] [--old | --new]

  --json      the rows as a JSON array
  --cpi FILE  any CPI that keeps its cloud as the tiny one does: in the directory tiny.dir, with the user-data of each VM in
              vms/CID/user-data.json
  --old       only the mixes with a CPI of version 1, for one that cannot speak version 2
  --new       only the mix without a registry, for one that knows no registry
`;

/** Returns the exit code: 0 if every row agrees with the contract. */
export async function matrixCommand(
  argv: readonly string[],
  defaultCpi: string,
  io: MatrixIo,
): Promise<number> {
  try {
    const options = parse(argv);
    if (options.help) {
      io.out(HELP);
      return 0;
    }
    const cpi = options.cpi ?? defaultCpi;
    if (!existsSync(cpi)) throw BadUsage({ why: `there is no CPI at ${cpi}` });
    if (!options.json) io.out(INTRO);
    const mixes = EIGHT_MIXES.filter((mix) => isAsked(mix, options));
    const rows = await runMatrix(cpi, mixes);
    if (options.json) io.out(`${JSON.stringify(rows, null, 2)}\n`);
    else io.out(`${tableText(rows)}\n\n${verdict(rows)}`);
    return rows.every((row) => row.agrees) ? 0 : 1;
  } catch (error) {
    io.err(`${errorText(error)}\n`);
    return 2;
  }
}

const INTRO = `Slipway: the eight mixes of old (v1) and new (v2) Director, CPI and stemcell.
Each row is played for real: a CPI process per call, a registry on loopback, a VM, a disk attached and detached.
The last column but one is what a Director then tells the agent of the VM.

`;

function verdict(rows: Awaited<ReturnType<typeof runMatrix>>): string {
  const agreeing = rows.filter((row) => row.agrees).length;
  const without = rows.filter((row) => row.registryless).length;
  const lines = [`${agreeing} of ${rows.length} rows agree with the contract.`];
  lines.push(`The registry was used in ${rows.length - without} of them and not touched in ${without}.`);
  for (const row of rows.filter((one) => !one.agrees)) {
    lines.push(
      `Director v${row.director}, CPI v${row.cpi}, stemcell v${row.stemcell}: ${row.problems.join("; ")}`,
    );
  }
  return `${lines.join("\n")}\n`;
}

/** Without a registry play only three new parts; a CPI of version 1 is in half of the mixes. */
const isAsked = ({ director, cpi, stemcell }: (typeof EIGHT_MIXES)[number], options: Options): boolean =>
  (!options.old || cpi === 1) && (!options.new || Math.min(director, cpi, stemcell) === 2);

interface Options {
  readonly json: boolean;
  readonly help: boolean;
  readonly old: boolean;
  readonly new: boolean;
  readonly cpi: string | undefined;
}

function parse(argv: readonly string[]): Options {
  let json = false;
  let help = false;
  let old = false;
  let onlyNew = false;
  let cpi: string | undefined;
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at];
    if (word === "--json") json = true;
    else if (word === "--old") old = true;
    else if (word === "--new") onlyNew = true;
    else if (word === "--help" || word === "-h") help = true;
    else if (word === "--cpi" && argv[at + 1] !== undefined) cpi = argv[++at];
    else throw BadUsage({ why: `'${word}' is not understood` });
  }
  if (old && onlyNew) throw BadUsage({ why: "--old and --new leave no mix" });
  return { json, help, old, new: onlyNew, cpi };
}
