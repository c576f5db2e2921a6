// `npm run test:bosh-cli`: the stories with the real CLI, each of its runs recorded; at the end, whether all that
// `docs/bosh-commands.md` says was really run. `--write` writes down which flags were.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BOSH_COMMANDS, FLAG_VERDICTS } from "./bosh-commands.mjs";
import { boshHelp } from "./bosh-help.mjs";
import { recorded, recorder } from "./bosh-recorder.mjs";
import { flagsRun, parsedRun, unheld } from "./bosh-runs.mjs";

/** Compares what is sent to a Director that only answers what it was told to. */
const NO_DIRECTOR = "like-bosh.test.ts";
const CLAIMED = "tools/bosh-flags.json";
const FORMATTER = ["node_modules/.bin/biome", ["format", "--write", CLAIMED]];

const real = process.env.SLIPWAY_BOSH;
const write = process.argv[2] === "--write";
const [program, ...args] = process.argv.slice(write ? 3 : 2);
const dir = join(process.cwd(), ".cache", "bosh-runs");
const env = { ...process.env, SLIPWAY_BOSH: recorder(real, dir), SLIPWAY_BOSH_RECORDS: dir };
const { status } = spawnSync(program, args, { stdio: "inherit", env });
if (status !== 0) process.exit(status ?? 1);

const help = boshHelp(real);
const runs = recorded(dir).flatMap(({ code, file, test, said, args: typed }) => {
  const run = file === NO_DIRECTOR ? undefined : parsedRun(typed, help);
  return run === undefined ? [] : [{ ...run, code, test, said, story: file.replace(/\.test\.ts$/, "") }];
});
if (write) {
  writeFileSync(CLAIMED, `${JSON.stringify(flagsRun(help, runs), null, 2)}\n`);
  spawnSync(...FORMATTER);
}
const claimed = JSON.parse(readFileSync(CLAIMED, "utf8"));
const problems = unheld({ help, runs, rows: BOSH_COMMANDS, claimed, verdicts: FLAG_VERDICTS });
const say = (text) => process.stdout.write(`${text}\n`);
if (problems.length === 0) say(`${runs.length} runs of the bosh CLI hold what docs/bosh-commands.md says`);
else
  say(
    `${runs.length} runs of the bosh CLI do not hold what docs/bosh-commands.md says:\n  ${problems.join("\n  ")}\nRows and verdicts are in tools/bosh-commands.mjs; \`npm run test:bosh-cli -- --write\` writes down which flags are run.`,
  );
process.exitCode = problems.length === 0 ? 0 : 1;
