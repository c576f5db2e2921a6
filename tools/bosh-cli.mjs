// The real bosh CLI, at one version, built once from the Go module proxy. `node tools/bosh-cli.mjs` prints where it is;
// with a command behind it, runs that with SLIPWAY_BOSH set. SLIPWAY_BOSH from outside names one that is there already.
import { spawn, spawnSync } from "node:child_process";
import { accessSync, constants, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const VERSION = "7.9.13";
const MODULE = "github.com/cloudfoundry/bosh-cli/v7";
const MADE_WITH = "1.24.0";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const cache = join(root, ".cache", "bosh-cli", VERSION);

/** The path of the CLI; built when it is not there. */
export function boshCli(given = process.env.SLIPWAY_BOSH) {
  if (given !== undefined && given !== "") {
    if (!executable(given)) throw new Error(`SLIPWAY_BOSH names ${given}, which is no executable file`);
    return given;
  }
  const path = join(cache, "bosh");
  if (!executable(path)) build(path);
  return path;
}

/** A module of our own that requires it: `go install …@version` asks the proxy for a list it may not have. */
function build(path) {
  if (spawnSync("go", ["version"]).status !== 0)
    throw new Error(
      `the bosh CLI ${VERSION} is built with Go, and there is no 'go' in the PATH. Install Go ${MADE_WITH} or later, or set SLIPWAY_BOSH to a bosh CLI.`,
    );
  process.stderr.write(`slipway: building the bosh CLI ${VERSION} (first run)\n`);
  mkdirSync(cache, { recursive: true });
  const dir = mkdtempSync(join(cache, "build-"));
  try {
    const requires = `module bosh-from-proxy\n\ngo ${MADE_WITH}\n\nrequire ${MODULE} v${VERSION}\n`;
    writeFileSync(join(dir, "go.mod"), requires);
    const made = spawnSync("go", ["build", "-mod=mod", "-o", "bosh", MODULE], {
      cwd: dir,
      env: { ...process.env, CGO_ENABLED: "0", GOFLAGS: "", GOWORK: "off" },
      encoding: "utf8",
    });
    if (made.status !== 0)
      throw new Error(
        `building the bosh CLI ${VERSION} failed. Go must reach a module proxy (GOPROXY). It said:\n${made.stderr}`,
      );
    renameSync(join(dir, "bosh"), path);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function executable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    const path = boshCli();
    const [program, ...args] = process.argv.slice(2);
    if (program === undefined) process.stdout.write(`${path}\n`);
    else runWith(path, program, args);
  } catch (error) {
    process.stderr.write(`slipway: ${error.message}\n`);
    process.exitCode = 1;
  }
}

/** Who asks for the suite by name wants to hear when it cannot run. */
function runWith(path, program, args) {
  const required = [process.env.SLIPWAY_REQUIRE, "bosh-cli"].filter(Boolean).join(",");
  const env = { ...process.env, SLIPWAY_BOSH: path, SLIPWAY_REQUIRE: required };
  const child = spawn(program === "node" ? process.execPath : program, args, { stdio: "inherit", env });
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
  child.on("error", (error) => {
    process.stderr.write(`slipway: cannot run ${program}: ${error.message}\n`);
    process.exitCode = 1;
  });
  child.on("exit", (code, signal) => {
    process.exitCode = code ?? (signal === null ? 1 : 130);
  });
}
