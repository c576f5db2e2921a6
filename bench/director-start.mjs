// How long a Director takes from nothing to an answered /info, and the parts of packages/sim/src/bench.
import { once } from "node:events";
import { chmodSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { join, resolve } from "node:path";
import { freePort } from "../tools/free-port.mjs";
import { cpuTime, cpuTimeOf, removedAtEnd, scratchDir, startNode, wallTime } from "./measure.mjs";

/** The programs of one checkout: the Director, and the parts that run in a process of their own. */
export const OURS = {
  director: "packages/director/dist/slipway-director.cjs",
  parts: "packages/sim/dist/bench.cjs",
};
const LONGEST_MS = 120_000;

/** Runs one measurement of packages/sim/src/bench in a process of its own. */
export async function part(name, args, { parts } = OURS) {
  const child = startNode([parts, name, ...args.map(String)], { stdio: ["ignore", "pipe", "pipe"] });
  const said = { stdout: "", stderr: "" };
  for (const stream of Object.keys(said))
    child[stream].setEncoding("utf8").on("data", (text) => {
      said[stream] += text;
    });
  const [status] = await once(child, "close");
  if (status !== 0) throw new Error(`${parts} ${name} ${args.join(" ")} failed: ${said.stderr}`);
  return JSON.parse(said.stdout);
}

/** Runs so many measurements, one after the other. */
export async function partsInTurn(count, name, args) {
  const seen = [];
  for (let round = 0; round < count; round++) seen.push(await part(name, args));
  return seen;
}

export function answersInfo(port) {
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

/** Resident memory of a process, or with VmHWM the most it had; undefined where the machine does not say. */
export function residentMib(pid, field = "VmRSS") {
  const file = `/proc/${pid}/status`;
  if (!existsSync(file)) return undefined;
  return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(file, "utf8"))?.[1] ?? 0) / 1024;
}

/** A Director needs some CPI; this one is never called. */
const config = scratchDir("director.json");
writeFileSync(config, JSON.stringify({ cpi: { exec_path: resolve("examples/tiny-cpi/dist/cpi.cjs") } }));

async function startOnce(dir, programs = OURS) {
  const { ms, cpu, mib, stop } = await startDirector(dir, programs);
  await stop();
  return { ms, cpu, mib };
}

/** A Director that answers, and how long that took. */
export async function startDirector(dir, { director } = OURS) {
  const port = await freePort();
  const begun = process.hrtime.bigint();
  const since = () => Number(process.hrtime.bigint() - begun) / 1e6;
  const args = [director, "--config", config, "--state-dir", dir, "--port", String(port)];
  const child = startNode(args, { stdio: ["ignore", "ignore", "pipe"] });
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
  const cpu = cpuTimeOf(child.pid);
  const stop = async () => {
    child.kill("SIGTERM");
    await ended;
  };
  return { ms, cpu, mib: residentMib(child.pid), pid: child.pid, port, stop };
}

/** A directory for states of Directors, for as long as the work takes. */
export async function inScratch(work) {
  const dir = mkdtempSync("/var/tmp/slipway-bench-");
  const remove = removedAtEnd(dir);
  // As root the database server runs as somebody else, who must get through.
  chmodSync(dir, 0o711);
  try {
    return await work(dir);
  } finally {
    remove();
  }
}

/** A fresh start and a later one of the same state directory. */
export const startTwice = (programs) =>
  inScratch(async (dir) => {
    const state = join(dir, "state");
    return { fresh: await startOnce(state, programs), later: await startOnce(state, programs) };
  });

/** The best of each counts, since nothing makes a start faster than it is. Times by the wall, and with Cpu of the processor. */
export async function startTimes({ rounds, later, deployments }) {
  const seen = { node: [], fresh: [], later: [], filled: [], databaseFresh: [], databaseLater: [] };
  Object.assign(seen, { nodeCpu: [], freshCpu: [], laterCpu: [], filledCpu: [] });
  const start = async (kind, state) => {
    const { ms, cpu } = await startOnce(state);
    seen[kind].push(ms);
    seen[`${kind}Cpu`].push(cpu);
  };
  for (let round = 0; round < rounds; round++) {
    await inScratch(async (dir) => {
      const state = join(dir, "state");
      const bare = join(dir, "bare");
      const filled = join(dir, "filled");
      seen.databaseFresh.push((await part("database", [bare])).ms);
      await start("fresh", state);
      await startOnce(filled);
      await part("fill", [filled, deployments]);
      await part("fill", [state, 1]);
      for (let turn = 0; turn < later; turn++) {
        seen.node.push(wallTime(["-e", "0"]));
        seen.nodeCpu.push(cpuTime(["-e", "0"]));
        seen.databaseLater.push((await part("database", [bare])).ms);
        await start("later", state);
        await start("filled", filled);
      }
    });
  }
  return Object.fromEntries(Object.entries(seen).map(([name, times]) => [name, Math.min(...times)]));
}
