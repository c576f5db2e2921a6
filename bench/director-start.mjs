// How long the Director takes from nothing to an answered /info, beside its database alone.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { request } from "node:https";
import { join } from "node:path";
import { freePort } from "../tools/free-port.mjs";
import { wallTime } from "./measure.mjs";

const DIRECTOR = "packages/cli/dist/slipway.cjs";
const PARTS = "packages/sim/dist/bench.cjs";
const LONGEST_MS = 120_000;

/** Runs one measurement of packages/sim/src/bench in a process of its own. */
export function part(...args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [PARTS, ...args.map(String)], {
    encoding: "utf8",
    maxBuffer: 1 << 26,
  });
  if (status !== 0) throw new Error(`bench ${args.join(" ")} failed: ${stderr}`);
  return JSON.parse(stdout);
}

function answersInfo(port) {
  return new Promise((resolve) => {
    // Its certificate is made during the very start that is measured.
    const options = { host: "127.0.0.1", port, path: "/info", rejectUnauthorized: false, agent: false };
    const call = request(options, (response) => {
      response.resume();
      response.on("end", () => resolve(response.statusCode === 200));
    });
    call.on("error", () => resolve(false));
    call.end();
  });
}

async function startOnce(dir) {
  const port = await freePort();
  const begun = process.hrtime.bigint();
  const since = () => Number(process.hrtime.bigint() - begun) / 1e6;
  const child = spawn(process.execPath, [DIRECTOR, "start", "--state-dir", dir, "--port", String(port)], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text) => {
    said += text;
  });
  const ended = once(child, "exit");
  while (!(await answersInfo(port))) {
    if (child.exitCode !== null || since() > LONGEST_MS)
      throw new Error(`the Director does not start: ${said}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  const ms = since();
  child.kill("SIGTERM");
  await ended;
  return ms;
}

/** The best of each counts, since nothing makes a start faster than it is. */
export async function startTimes({ rounds, later, deployments }) {
  const seen = { node: [], fresh: [], later: [], filled: [], databaseFresh: [], databaseLater: [] };
  for (let round = 0; round < rounds; round++) {
    const dir = mkdtempSync("/var/tmp/slipway-bench-");
    // As root the database server runs as somebody else, who must get through.
    chmodSync(dir, 0o711);
    const state = join(dir, "state");
    const bare = join(dir, "bare");
    try {
      seen.databaseFresh.push(part("database", bare).ms);
      seen.fresh.push(await startOnce(state));
      for (let turn = 0; turn < later; turn++) {
        seen.node.push(wallTime(["-e", "0"]));
        seen.databaseLater.push(part("database", bare).ms);
        seen.later.push(await startOnce(state));
      }
      part("fill", state, deployments);
      for (let turn = 0; turn < later; turn++) seen.filled.push(await startOnce(state));
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  }
  return Object.fromEntries(Object.entries(seen).map(([name, times]) => [name, Math.min(...times)]));
}
