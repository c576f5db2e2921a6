// Runs the tests with one new seed after the other, for some minutes or until one fails: each seed samples other parts of the
// long suites and gives properties other inputs.
//   npm run test:random -- --minutes 30 packages/director
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";

const args = process.argv.slice(2);
const at = args.indexOf("--minutes");
const minutes = at === -1 ? 10 : Number(args[at + 1]);
if (!(minutes > 0)) {
  process.stderr.write("slipway: --minutes takes a number above 0\n");
  process.exit(2);
}
const rest = at === -1 ? args : args.filter((_, index) => index !== at && index !== at + 1);
const end = Date.now() + minutes * 60_000;
const say = (text) => process.stdout.write(`${text}\n`);

let runs = 0;
do {
  const seed = randomBytes(4).toString("hex");
  const code = await run(seed);
  runs += 1;
  if (code !== 0) {
    say(`the run with seed ${seed} failed after ${runs - 1} that passed. To repeat it:`);
    say(`  SLIPWAY_SEED=${seed} npm test${rest.length > 0 ? ` -- ${rest.join(" ")}` : ""}`);
    process.exit(code);
  }
} while (Date.now() < end);
say(`${runs} run(s) with new seeds passed`);

/** Runs the tests with a seed and returns the exit code. */
function run(seed) {
  const child = spawn(process.execPath, ["tools/test-run.mjs", ...rest], {
    stdio: "inherit",
    env: { ...process.env, SLIPWAY_SEED: seed },
  });
  const pass = (signal) => child.kill(signal);
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, pass);
  return new Promise((resolve) => {
    child.on("error", () => resolve(1));
    child.on("exit", (status, signal) => {
      for (const one of ["SIGINT", "SIGTERM"]) process.off(one, pass);
      resolve(signal === null ? status : 130);
    });
  });
}
