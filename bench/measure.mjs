// Measures, by turns with a baseline of the same run, and ends everything that a benchmark has started.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

/** Measures several things by turns, so that a slow moment of the machine hits all of them. Gives their medians. */
export async function inTurns(rounds, things) {
  const seen = Object.fromEntries(Object.keys(things).map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, measure] of Object.entries(things)) seen[name].push(await measure());
  }
  return Object.fromEntries(Object.entries(seen).map(([name, values]) => [name, median(values)]));
}

/** Wall time of one process, in ms. */
export function wallTime(args, input = "") {
  const start = process.hrtime.bigint();
  const { status, stderr } = spawnSync(process.execPath, args, { input });
  if (status !== 0) throw new Error(`node ${args.join(" ")} failed: ${stderr}`);
  return Number(process.hrtime.bigint() - start) / 1e6;
}

const scratch = mkdtempSync(join(tmpdir(), "slipway-bench-"));
const hook = join(scratch, "used.cjs");
writeFileSync(
  hook,
  `process.on("exit", () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  require("fs").writeSync(3, JSON.stringify({ cpuMs: (userCPUTime + systemCPUTime) / 1000, peakMib: maxRSS / 1024 }));
});
`,
);

/** What one process has used until its end, as the kernel counts it. */
function usedBy(args, input) {
  const file = join(scratch, "used");
  const fd = openSync(file, "w");
  const stdio = ["pipe", "pipe", "pipe", fd];
  const { status, stderr } = spawnSync(process.execPath, ["--require", hook, ...args], { input, stdio });
  closeSync(fd);
  if (status !== 0) throw new Error(`node ${args.join(" ")} failed: ${stderr}`);
  return JSON.parse(readFileSync(file, "utf8"));
}

/** Peak resident memory of one process, in MiB. */
export const peakMemory = (args, input = "") => usedBy(args, input).peakMib;

/** Processor time of one process, in ms. */
export const cpuTime = (args, input = "") => usedBy(args, input).cpuMs;

/** Processor time of all threads of a process so far, in ms. */
export function cpuTimeOf(pid) {
  const threads = readdirSync(`/proc/${pid}/task`);
  const times = threads.map((id) =>
    Number(readFileSync(`/proc/${pid}/task/${id}/schedstat`, "utf8").split(" ")[0]),
  );
  return times.reduce((sum, time) => sum + time, 0) / 1e6;
}

export const scratchDir = (name) => join(scratch, name);

const running = new Map();
const directories = new Set([scratch]);
let ending = false;

/** Starts a Node program. */
export const startNode = (args, options) => ownChild(spawn(process.execPath, args, options));

/** Ends a child process with the benchmark. */
export function ownChild(child) {
  const ended = once(child, "exit").catch(() => undefined);
  running.set(child, ended);
  void ended.then(() => running.delete(child));
  return child;
}

/** Removes a directory when the benchmark ends, however it does. The returned function removes it now. */
export function removedAtEnd(dir) {
  directories.add(dir);
  return () => {
    rmSync(dir, { recursive: true, force: true });
    directories.delete(dir);
  };
}

async function end(code) {
  // A signal often comes twice, from the terminal and from npm.
  if (ending) return;
  ending = true;
  // What waits for a program that is ended fails; the benchmark must not end for it before the others.
  process.on("uncaughtException", () => undefined);
  for (const child of running.keys()) child.kill("SIGTERM");
  await Promise.all(running.values());
  process.exit(code);
}

for (const [signal, code] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
])
  process.on(signal, () => void end(code));
process.on("exit", () => {
  for (const dir of directories) rmSync(dir, { recursive: true, force: true });
});
