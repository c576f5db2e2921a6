// The entry point of every npm script: makes sure that what the command needs is installed and built, then runs it.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
process.chdir(root);

const [major = 0] = process.versions.node.split(".").map(Number);
if (major < 20) fail(`Slipway needs Node 20 or later; this is ${process.version}.`);

const bin = (name) => join(root, "node_modules", ".bin", name);

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
  "crash:local": (rest) => [["node", "tools/crash-local.mjs", ...rest]],
  "host:docker": (rest) => [["node", "tools/docker-host.mjs", ...rest]],
  // What is long is sampled by a seed; `test:all` runs all of it.
  test: (rest) => [[bin("vitest"), "run", ...rest]],
  "test:all": (rest) => {
    process.env.SLIPWAY_TEST = "all";
    return [[bin("vitest"), "run", ...rest]];
  },
  // Mostly waiting for other processes: more of it at once than there are processors.
  "test:bosh-cli": (rest) => [
    [
      "node",
      "tools/bosh-cli.mjs",
      bin("vitest"),
      "run",
      "--maxWorkers=3",
      "packages/cli/src/bosh-cli",
      // Suites of ours that play with the real one by turns.
      "with-bosh",
      "like-bosh",
      ...rest,
    ],
  ],
  "test:pack": () => [
    [bin("tsc"), "-b"],
    ["node", "tools/pack-check.mjs"],
  ],
  build: () => [[bin("tsc"), "-b"]],
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
    ["node", "tools/docs.mjs", "--check"],
    [bin("knip")],
  ],
  "bench:director": (rest) => [["node", "bench/director.mjs", ...rest]],
  "bench:local": (rest) => [["node", "bench/local.mjs", ...rest]],
  "bench:docker": (rest) => [
    [bin("tsc"), "-b"],
    ["node", "bench/docker.mjs", ...rest],
  ],
  "bench:agent": (rest) => [["node", "bench/agent.mjs", ...rest]],
  "conformance:agent": () => [["node", "tools/conformance-agent.mjs"]],
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
  process.stderr.write("slipway: installing packages (first run, or the lock file changed)\n");
  const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  const code = await run("npm", args, { quiet: true });
  if (code !== 0) fail("npm ci failed; its output is above. Check the network and run the command again.");
  writeFileSync(stamp, wanted);
}

/** Bundles the executables when a source is newer than they are. */
async function build() {
  const { bundle, EXECUTABLES } = await import("./bundle.mjs");
  const built = EXECUTABLES.map(({ to }) => modified(to));
  const sources = ["packages", "examples"].flatMap((top) =>
    readdirSync(top).map((dir) => join(top, dir, "src")),
  );
  const newest = Math.max(
    modified("tools/bundle.mjs"),
    modified("package-lock.json"),
    ...sources.map(newestIn),
  );
  if (built.every((time) => time > newest)) return;
  await bundle();
}

function newestIn(path) {
  if (!existsSync(path)) return 0;
  let newest = modified(path);
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
function run(program, args, { quiet = false } = {}) {
  return new Promise((resolve) => {
    const child = spawn(program === "node" ? process.execPath : program, args, {
      stdio: quiet ? ["ignore", "pipe", "pipe"] : "inherit",
    });
    let output = "";
    child.stdout?.on("data", (chunk) => (output += chunk));
    child.stderr?.on("data", (chunk) => (output += chunk));
    const pass = (signal) => child.kill(signal);
    for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, pass);
    child.on("error", (error) => {
      process.stderr.write(`slipway: cannot run ${program}: ${error.message}\n`);
      resolve(1);
    });
    child.on("exit", (code, signal) => {
      for (const one of ["SIGINT", "SIGTERM"]) process.off(one, pass);
      if (quiet && code !== 0) process.stderr.write(output);
      resolve(code ?? (signal === null ? 1 : 130));
    });
  });
}

function fail(message) {
  process.stderr.write(`slipway: ${message}\n`);
  process.exit(1);
}
