// What the benchmarks share. Every figure is a ratio to a baseline taken in the same run, turn by turn.
import { spawnSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A few seconds, which CI spends to see that every figure still comes out, and that none is many times its limit. */
export const quick = process.argv.includes("--quick");

/** Instead of the table: the rows as JSON, for programs. */
const json = process.argv.includes("--json");

/** How many times worse than its limit a figure of the quick form may be: one round, on a machine with others. */
const QUICK_SLACK = 4;

export const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

/** Measures several things in turns, so that a slow moment of the machine hits all of them. */
export function inTurns(rounds, things) {
  const seen = Object.fromEntries(Object.keys(things).map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, measure] of Object.entries(things)) seen[name].push(measure());
  }
  return Object.fromEntries(Object.entries(seen).map(([name, values]) => [name, median(values)]));
}

/** The same for what takes a promise. */
export async function inTurnsLater(rounds, things) {
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
process.on("exit", () => rmSync(scratch, { recursive: true, force: true }));
const hook = join(scratch, "peak.cjs");
writeFileSync(
  hook,
  'process.on("exit", () => require("fs").writeSync(3, String(process.resourceUsage().maxRSS)));\n',
);

/** Peak resident memory of one process, in MiB, as the kernel counts it. */
export function peakMemory(args, input = "") {
  const file = join(scratch, "peak");
  const fd = openSync(file, "w");
  const { status } = spawnSync(process.execPath, ["--require", hook, ...args], {
    input,
    stdio: ["pipe", "pipe", "pipe", fd],
  });
  closeSync(fd);
  if (status !== 0) throw new Error(`node ${args.join(" ")} failed`);
  return Number(readFileSync(file, "utf8")) / 1024;
}

export const scratchDir = (name) => join(scratch, name);

/** Prints the table and returns whether every figure came out and every limit was kept. */
export function report(title, rows) {
  if (json) {
    const judged = rows.map((row) => ({ ...row, ...(row.limit !== undefined && { kept: kept(row) }) }));
    console.log(JSON.stringify({ title, quick, rows: judged }, null, 2));
    return verdict(rows);
  }
  const header = ["measured", "ours", "baseline", "ratio", "limit", ""];
  const body = rows.map((r) => [
    r.what,
    r.ours,
    r.baseline,
    `${r.ratio.toFixed(2)}x`,
    r.limit === undefined ? "" : `${r.atMost ? "at most" : "at least"} ${limitOf(r)}x`,
    r.limit === undefined ? "" : kept(r) ? "ok" : "MISSED",
  ]);
  const widths = header.map((_, at) => Math.max(...[header, ...body].map((cells) => cells[at].length)));
  const line = (cells) =>
    cells
      .map((cell, at) => cell.padEnd(widths[at]))
      .join("  ")
      .trimEnd();
  console.log(`${title}\n\n${[header, ...body].map(line).join("\n")}`);
  return verdict(rows);
}

function verdict(rows) {
  const broken = rows.filter(({ ratio }) => !Number.isFinite(ratio) || ratio === 0);
  for (const { what } of broken) console.error(`bench: no figure came out for '${what}'`);
  return broken.length === 0 && rows.every(kept);
}

function limitOf({ limit, atMost }) {
  if (!quick) return limit;
  return atMost ? limit * QUICK_SLACK : limit / QUICK_SLACK;
}

const kept = (row) =>
  row.limit === undefined || (row.atMost ? row.ratio <= limitOf(row) : row.ratio >= limitOf(row));
