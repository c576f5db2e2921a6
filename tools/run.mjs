// The entry point of every npm script: makes sure that what the command needs is installed and built, then runs it.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { installPackages } from "./install.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
process.chdir(root);

const [major = 0] = process.versions.node.split(".").map(Number);
if (major < 20) fail(`Slipway needs Node 20 or later; this is ${process.version}.`);

const bin = (name) => join(root, "node_modules", ".bin", name);

/** Runs vitest; a file that fails is tried once more, alone. */
const VITEST = ["node", "tools/test-run.mjs"];

const USER_SUITES = [
  ...["actions", "e2e/jobs", "e2e/supervised", "e2e/cancelled", "e2e/killed-faults", "e2e/killed-work"],
  ...["jobs", "packages", "supervisor", "logs", "platform/namespace"],
]
  .map((suite) => `packages/agent/src/${suite}`)
  .concat(
    ["create-env/jobs/jobs.test.ts", "bosh-cli/agent-story"].map((suite) => `packages/cli/src/${suite}`),
    ["escape", "root-inside"].map((suite) => `packages/cpi-local/src/sandbox/${suite}.test.ts`),
  );

/** Long suites as a whole, where `npm test` takes a sample. */
function whole(steps) {
  process.env.SLIPWAY_TEST = "all";
  return steps;
}

/**
 * All stories with the real CLI, and at the end whether `docs/bosh-commands.md` holds; `--write` writes down what was run. With
 * anything else behind it, a file or a filter, only that is run, and nothing is said of the tables.
 */
function boshStories(rest) {
  // Mostly waiting for other processes: more of it at once than there are processors.
  const vitest = [...VITEST, "--maxWorkers=3"];
  // With suites of ours that play with the real one by turns.
  const all = ["packages/cli/src/bosh-cli", "with-bosh", "like-bosh"];
  if (rest.every((one) => one === "--write"))
    return ["node", "tools/bosh-cli.mjs", "node", "tools/bosh-stories.mjs", ...rest, ...vitest, ...all];
  const named = rest.some((one) => /\.test\.ts$|^packages\//.test(one));
  return ["node", "tools/bosh-cli.mjs", ...vitest, ...(named ? [] : all), ...rest];
}

/** Each command: its steps. A step is a program with arguments; `rest` are the user's. */
const COMMANDS = {
  start: (rest) => [["node", "packages/cli/dist/slipway.cjs", "demo", ...rest]],
  slipway: (rest) => [["node", "packages/cli/dist/slipway.cjs", ...rest]],
  matrix: (rest) => [
    // With the embedded CPI, unless one is named; the last one counts.
    ["node", "packages/certify/dist/mixes.cjs", "--cpi", "local", ...rest],
  ],
  "matrix:cpi": (rest) => [["node", "packages/certify/dist/matrix.cjs", ...rest]],
  crash: (rest) => [["node", "packages/sim/dist/crash.cjs", ...rest]],
  pairs: (rest) => [["node", "packages/sim/dist/pairs.cjs", ...rest]],
  sim: (rest) => [["node", "packages/sim/dist/sim.cjs", ...rest]],
  "crash:local": (rest) => [["node", "tools/crash-local.mjs", ...rest]],
  "host:docker": (rest) => [["node", "tools/docker-host.mjs", ...rest]],
  // Of what is long, `test` runs a fixed quick set, `test:all` all, and `test:random` other samples for some minutes.
  test: (rest) => [[...VITEST, ...rest]],
  "test:random": (rest) => [["node", "tools/test-random.mjs", ...rest]],
  "test:all": (rest) => whole([[...VITEST, ...rest]]),
  "test:bosh-cli": (rest) => [[bin("tsc"), "-b"], boshStories(rest)],
  // Jobs once more without root: the agent's suites, sandboxes of the local CPI, and a Director with the real CLI.
  "test:user": (rest) =>
    whole([
      [bin("tsc"), "-b"],
      [
        "node",
        "tools/bosh-cli.mjs",
        "node",
        "tools/as-user.mjs",
        ...VITEST,
        // The other one writes beside the packages, which are another user's.
        "--configLoader=runner",
        ...(rest.length > 0 ? rest : USER_SUITES),
      ],
    ]),
  // A Director that was really started, under attack. SLIPWAY_HOSTILE: random inputs for each family.
  "test:hostile": (rest) => whole([[...VITEST, "--config", "tools/hostile.config.ts", ...rest]]),
  "test:pack": (rest) => [
    ["node", "tools/prepack.mjs"],
    ["node", "tools/pack-check.mjs", ...rest],
  ],
  // BOSH releases of our CPIs.
  "cpi-release": (rest) => [
    [bin("tsc"), "-b"],
    ["node", "tools/cpi-release.mjs", ...rest],
  ],
  build: () => [["node", "tools/prepack.mjs"]],
  docs: (rest) => [
    [bin("tsc"), "-b"],
    ["node", "tools/docs.mjs", ...rest],
  ],
  format: () => [[bin("biome"), "check", "--write", "."]],
  check: () => [
    [bin("tsc"), "-b"],
    [bin("tsc"), "-p", "tsconfig.tests.json"],
    [bin("biome"), "ci", "--error-on-warnings", "."],
    ["node", "tools/layers.mjs"],
    ["node", "tools/patterns.mjs"],
    ["node", "tools/voice.mjs"],
    ["node", "tools/deploy-walk.mjs"],
    ["node", "tools/docs.mjs", "--check"],
    [bin("knip")],
  ],
  "bench:director": (rest) => [["node", "bench/director.mjs", ...rest]],
  "bench:releases": (rest) => [["node", "bench/releases.mjs", ...rest]],
  "bench:fleet": (rest) => [["node", "bench/fleet.mjs", ...rest]],
  "bench:local": (rest) => [["node", "bench/local.mjs", ...rest]],
  "bench:docker": (rest) => [
    [bin("tsc"), "-b"],
    ["node", "bench/docker.mjs", ...rest],
  ],
  "bench:agent": (rest) => [["node", "bench/agent.mjs", ...rest]],
  "conformance:agent": (rest) => [["node", "tools/conformance-agent.mjs", ...rest]],
  "bench:cpi": (rest) => [
    [bin("tsc"), "-b"],
    ["node", "bench/cpi.mjs", ...rest],
  ],
};

const [name = "", ...rest] = process.argv.slice(2);
const steps = COMMANDS[name];
if (steps === undefined) fail(`unknown command '${name}'; there are ${Object.keys(COMMANDS).join(", ")}.`);

await install();
await build();
for (const [program, ...args] of steps(rest)) {
  const code = await run(program, args);
  if (code !== 0) process.exit(code);
}

/** Installs when node_modules does not belong to this lock file. */
async function install() {
  const wanted = createHash("sha256")
    .update(readFileSync("package-lock.json"))
    .update(process.version)
    .digest("hex");
  const stamp = "node_modules/.slipway-installed";
  if (read(stamp) === wanted) return;
  process.stderr.write(
    "slipway: installing packages (first run, or the lock file changed); Ctrl-C stops it\n",
  );
  const cause = await installPackages();
  if (cause !== undefined) fail(`the packages were not installed: ${cause}`);
  writeFileSync(stamp, wanted);
}

/** Bundles the executables when a source is newer than they are. */
async function build() {
  const { bundle, EXECUTABLES } = await import("./bundle.mjs");
  const { DEMO_RELEASE, DEMO_SOURCES } = await import("./demo-release.mjs");
  const built = [...EXECUTABLES.map(({ to }) => to), "packages/cli/dist/console/page.mjs", DEMO_RELEASE].map(
    modified,
  );
  const sources = ["packages", "examples"].flatMap((top) =>
    readdirSync(top).map((dir) => join(top, dir, "src")),
  );
  const newest = Math.max(
    modified("tools/bundle.mjs"),
    modified("package-lock.json"),
    ...[...sources, ...DEMO_SOURCES].map(newestIn),
  );
  if (built.every((time) => time > newest)) return;
  process.stderr.write("slipway: building the programs\n");
  await bundle();
}

function newestIn(path) {
  if (!existsSync(path)) return 0;
  let newest = modified(path);
  if (!statSync(path).isDirectory()) return newest;
  for (const entry of readdirSync(path, { withFileTypes: true, recursive: true })) {
    newest = Math.max(newest, modified(join(entry.parentPath ?? entry.path, entry.name)));
  }
  return newest;
}

function modified(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function read(path) {
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
}

/** Signals reach the child through the terminal's process group; here they must not end us before it. */
function run(program, args) {
  return new Promise((resolve) => {
    const child = spawn(program === "node" ? process.execPath : program, args, {
      stdio: "inherit",
      // What an error tells to type is told in the words of who typed this.
      env: { ...process.env, SLIPWAY_BY_NPM: name },
    });
    const pass = (signal) => child.kill(signal);
    for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, pass);
    child.on("error", (error) => {
      process.stderr.write(`slipway: cannot run ${program}: ${error.message}\n`);
      resolve(1);
    });
    child.on("exit", (code, signal) => {
      for (const one of ["SIGINT", "SIGTERM"]) process.off(one, pass);
      resolve(code ?? (signal === null ? 1 : 130));
    });
  });
}

function fail(message) {
  process.stderr.write(`slipway: ${message}\n`);
  process.exit(1);
}
