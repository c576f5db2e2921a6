// Runs a command as an ordinary user, for suites that must also hold without root. Root becomes `nobody`, with a home and
// temporary files of its own; everybody else stays who they are.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { chownSync, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";

const NOBODY = 65534;
/** What an ordinary user has no say in, such as loop devices, is not required of one. */
const REQUIRED = ["userns", "bosh-cli"];

const here = process.cwd();
const root = process.getuid() === 0;
const become = ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"];

const home = mkdtempSync("/var/tmp/slipway-user-");
const temporary = join(home, "tmp");
mkdirSync(temporary);
/** Of the user as well, where sandboxes see it: temporary files they do not. */
const visible = root && existsSync("/opt") ? mkdtempSync("/opt/slipway-user-") : home;
if (root) for (const path of [home, temporary, visible]) chownSync(path, NOBODY, NOBODY);

/** Where others can read the clone: where it is, or in a copy. */
const clone = root && !readable(here) ? copyOf(here) : here;
const moved = (path) => (path.startsWith(`${here}/`) ? join(clone, path.slice(here.length)) : path);
const [program = "", ...args] = process.argv.slice(2).map(moved);

function readable(directory) {
  const [first, ...rest] = [...become, "test", "-r", join(directory, "package.json")];
  const { status, error } = spawnSync(first, rest);
  if (error !== undefined) {
    process.stderr.write(`slipway: cannot run ${first}: ${error.message}\n`);
    process.exit(1);
  }
  return status === 0;
}

function copyOf(directory) {
  const copy = join(home, "clone");
  process.stderr.write(`slipway: an ordinary user cannot read ${directory}; a copy is used\n`);
  for (const [first, ...rest] of [
    ["cp", "-a", directory, copy],
    ["chmod", "-R", "a+rX", copy],
  ])
    execFileSync(first, rest, { stdio: "inherit" });
  return copy;
}

const required = (process.env.SLIPWAY_REQUIRE ?? "").split(",").filter((one) => REQUIRED.includes(one));
const own = { HOME: home, TMPDIR: temporary, SLIPWAY_VISIBLE_DIR: visible };
const env = { ...process.env, ...own, SLIPWAY_REQUIRE: required.join(",") };
if (env.SLIPWAY_BOSH !== undefined) env.SLIPWAY_BOSH = moved(env.SLIPWAY_BOSH);
delete env.SLIPWAY_DOCKER_HOST;

const [first, ...rest] = root ? [...become, program, ...args] : [program, ...args];
const child = spawn(first, rest, { stdio: "inherit", env, cwd: clone });
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  process.stderr.write(`slipway: cannot run ${first}: ${error.message}\n`);
  process.exitCode = 1;
});
child.on("close", (code) => {
  for (const path of [home, visible]) rmSync(path, { recursive: true, force: true });
  process.exitCode = code ?? 1;
});
