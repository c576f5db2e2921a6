// `slipway` as people get it: packed, installed globally into an empty prefix, called by its name.
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";

/** Without what npm tells its scripts of this repository: somebody else's machine knows nothing of its settings. */
export const cleanEnv = () =>
  Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) =>
        !/^npm_(package|lifecycle|config_(engine_strict|local_prefix|save_exact))|^(SLIPWAY|BOSH)_/i.test(
          name,
        ),
    ),
  );

/** Packs packages/cli with all that belongs into it; returns the file. */
export function packSlipway(root, into) {
  const args = [
    "pack",
    "--json",
    "--foreground-scripts=false",
    "-w",
    "packages/cli",
    "--pack-destination",
    into,
  ];
  const { status, stdout, stderr } = spawnSync("npm", args, { cwd: root, encoding: "utf8" });
  if (status !== 0) throw new Error(`npm pack: ${stderr}`);
  return join(into, JSON.parse(stdout)[0].filename);
}

/** An empty machine with nothing but Node, npm and this package. `home` is where its Director keeps everything. */
export function install(tarball, dir) {
  const prefix = join(dir, "global");
  const work = join(dir, "empty");
  for (const made of [prefix, work]) mkdirSync(made, { recursive: true });
  // The database of root runs as another user, who must reach it.
  chmodSync(dir, 0o711);
  const path = (process.env.PATH ?? "").split(":").filter((one) => !one.includes("node_modules"));
  const env = { ...cleanEnv(), PATH: [join(prefix, "bin"), ...path].join(":") };
  const quiet = ["--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"];
  const args = ["install", "--global", "--prefix", prefix, ...quiet, tarball];
  const { status, stdout, stderr } = spawnSync("npm", args, { cwd: work, env, encoding: "utf8" });
  if (status !== 0) throw new Error(`npm install -g: ${stdout}${stderr}`);
  return { env: { ...env, SLIPWAY_HOME: join(dir, "home") }, work, prefix };
}

/** A command of the installed one, run to its end. */
export function slipway({ env, work }, args, { fails = false } = {}) {
  const { status, stdout, stderr, error } = spawnSync("slipway", args, { cwd: work, env, encoding: "utf8" });
  if (error !== undefined) throw error;
  if ((status === 0) === fails)
    throw new Error(`slipway ${args.join(" ")} ended with ${status}:\n${stdout}${stderr}`);
  return stdout;
}

const DEMO_MS = 180_000;

/** `slipway demo` until it has shown everything, then Ctrl-C. Resolves to what it printed. */
export function demo({ env, work }, port) {
  return new Promise((resolve, reject) => {
    const range = `127.${port >> 8}.${port & 0xff}.0/24`;
    const child = spawn("slipway", ["demo", "--port", String(port), "--range", range], { cwd: work, env });
    let said = "";
    let asked = false;
    const late = setTimeout(() => child.kill("SIGKILL"), DEMO_MS);
    const hear = (chunk) => {
      said += chunk;
      if (asked || !said.includes("The Director runs until Ctrl-C")) return;
      asked = true;
      child.kill("SIGINT");
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.on("error", reject);
    child.on("exit", (code) => {
      clearTimeout(late);
      if (asked && code === 0 && said.includes("The count goes on")) resolve(said);
      else reject(new Error(`slipway demo ended with ${code}:\n${said}`));
    });
  });
}
