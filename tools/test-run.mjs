// Runs vitest, then runs each test file that failed once more, alone on the machine. A file that passes then is flaky: it is
// named, and the run goes on. A file that fails twice fails the run, and so do more flaky files than LIMIT: a flaky test is a
// bug, and this only keeps it from stopping unrelated work.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const LIMIT = 5;
/** Options of vitest whose value is the next word. */
const WITH_VALUE = new Set([
  "-t",
  "--testNamePattern",
  "-c",
  "--config",
  "--project",
  "--reporter",
  "--root",
  "--dir",
]);

const args = process.argv.slice(2);
const dir = mkdtempSync(join(tmpdir(), "slipway-results-"));
process.on("exit", () => rmSync(dir, { recursive: true, force: true }));

const say = (text) => process.stdout.write(`${text}\n`);
const first = await vitest(args);
if (first.results === undefined) process.exit(first.code);

const { failures, unhandled } = first.results;
const total = { ...first.results };
let code = first.code;
// A run that was stopped, or in which something failed outside of all tests, has no file to try again.
if (code === 1 && unhandled === 0 && failures.length > 0 && failures.length <= LIMIT) {
  say(`\n${failures.length} test file(s) failed; each is run once more, alone`);
  const flaky = [];
  // Options stay; names of files are replaced by the one that failed.
  const options = args.filter(
    (arg, at) => (arg.startsWith("-") && !arg.startsWith("--maxWorkers")) || WITH_VALUE.has(args[at - 1]),
  );
  for (const failure of failures) {
    const again = await vitest([failure.path, ...options, "--maxWorkers=1"]);
    if (again.code !== 0 || again.results === undefined) continue;
    for (const key of ["passed", "failed", "skipped"]) total[key] += again.results[key] - failure[key];
    flaky.push(failure);
  }
  for (const { file, titles } of flaky) for (const title of titles) say(`FLAKY ${file}: ${title}`);
  if (flaky.length > 0) say(`flaky: ${flaky.length} file(s) passed only when run alone`);
  if (flaky.length === failures.length) code = 0;
} else if (failures.length > LIMIT) say(`\n${failures.length} test files failed: too many to try again`);
if (unhandled > 0) say(`${unhandled} error(s) were thrown outside of all tests`);
// Never a closing line without a failure from a run that failed.
if (code !== 0 && total.failed === 0) total.failed = 1;
say(`${total.passed} passed, ${total.failed} failed${total.skipped > 0 ? `, ${total.skipped} skipped` : ""}`);
process.exitCode = code;

/** Runs vitest and returns its exit code and what the closing-line reporter wrote, if it came that far. */
function vitest(rest) {
  const results = join(dir, "results.json");
  rmSync(results, { force: true });
  const child = spawn(process.execPath, [join("node_modules", "vitest", "vitest.mjs"), "run", ...rest], {
    stdio: "inherit",
    env: { ...process.env, SLIPWAY_TEST_RESULTS: results },
  });
  const pass = (signal) => child.kill(signal);
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, pass);
  return new Promise((resolve) => {
    child.on("error", (error) => {
      process.stderr.write(`slipway: vitest cannot be started: ${error.message}\n`);
      resolve({ code: 1, results: undefined });
    });
    child.on("exit", (status, signal) => {
      for (const one of ["SIGINT", "SIGTERM"]) process.off(one, pass);
      resolve({ code: signal === null ? status : 130, results: read(results) });
    });
  });
}

function read(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}
