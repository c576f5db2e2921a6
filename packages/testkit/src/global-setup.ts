import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
// Vitest loads this file without the sources of other packages: it imports none of them.
import { QUICK_SEED, RUN_VARIABLE, SEED_VARIABLE, whole } from "./sample.ts";
import { passablePlace, useMemory } from "./temporary.ts";

/**
 * Ends the database server that the workers of a run share and removes what they made, when the run is over, however
 * it ends: the guard notices that its standard input is closed.
 */
const GUARD = `
const { readFileSync, rmSync } = require("node:fs");
const [dir] = process.argv.slice(1);
const alive = (pid) => { try { process.kill(pid, 0); return true; } catch { return false; } };
process.stdin.resume().on("close", () => {
  let pid;
  try { pid = Number(readFileSync(dir + "/database.pid", "utf8")); process.kill(pid, "SIGQUIT"); } catch {}
  let left = 500;
  const wait = setInterval(() => {
    if (pid > 0 && alive(pid) && left-- > 0) return;
    clearInterval(wait);
    rmSync(dir, { recursive: true, force: true });
  }, 20);
});
`;

const RUNS = Symbol.for("slipway.run");

/** Vitest calls this for each project, before the workers start, and what it returns when they have ended. */
export function setup(project: TestProject): () => Promise<void> {
  const here = globalThis as { [RUNS]?: boolean };
  if (here[RUNS] === true) return () => Promise.resolve();
  here[RUNS] = true;
  // The server of a run by root has another user, who must reach the directory.
  useMemory();
  const run = mkdtempSync(join(passablePlace(), "slipway-run-"));
  chmodSync(run, 0o711);
  process.env[RUN_VARIABLE] = run;
  const seed = process.env[SEED_VARIABLE] ?? QUICK_SEED;
  process.env[SEED_VARIABLE] = seed;
  project.vitest.logger.log(
    whole()
      ? `all tests, seed ${seed}`
      : `long suites are sampled, ${seed === QUICK_SEED ? "the quick set" : `seed ${seed}`}; npm run test:all runs them whole`,
  );
  const guard = spawn(process.execPath, ["-e", GUARD, run], {
    stdio: ["pipe", "ignore", "inherit"],
    detached: true,
  });
  const ended = once(guard, "exit");
  // Bundles are made of the sources: after an edit they are made again.
  project.onTestsRerun(() => {
    for (const name of readdirSync(run)) if (/^(bundle-|opener).*\.made$/.test(name)) rmSync(join(run, name));
  });
  return async () => {
    delete here[RUNS];
    guard.stdin.end();
    await ended;
  };
}
