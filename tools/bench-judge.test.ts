import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { isAlive } from "@slipway/testkit/local-cloud";
import { describe, expect, it } from "vitest";

const at = (file: string) => JSON.stringify(new URL(`../bench/${file}`, import.meta.url).href);

/** Runs a benchmark of this text, and gives its exit code and what it printed. */
function bench(text: string, ...flags: string[]) {
  const script = `import { report } from ${at("judge.mjs")};
import { cpuTime, inTurns } from ${at("measure.mjs")};
${text}`;
  const args = ["--input-type=module", "-e", script, "bench", ...flags];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  return { status, said: stdout + stderr };
}

/** A program measured beside an empty one. */
const measured = (program: string) => `
const { node, ours } = await inTurns(1, {
  node: () => cpuTime(["-e", "0"]),
  ours: () => cpuTime(["-e", ${JSON.stringify(program)}]),
});
const row = { what: "a program", ours: "", baseline: "", ratio: ours / node, limit: 1.5, atMost: true, slack: 2 };
process.exitCode = report("bench", [row]) ? 0 : 1;`;
/** Uses ten times the processor time that an empty program has used until here. */
const SLOW =
  "const used = () => { const { user, system } = process.cpuUsage(); return user + system; }; const end = 10 * used(); while (used() < end);";

const judged = (row: Readonly<Record<string, unknown>>, ...flags: string[]) =>
  bench(
    `process.exitCode = report("bench", [${JSON.stringify({ what: "x", ours: "", baseline: "", ...row })}]) ? 0 : 1;`,
    ...flags,
  ).status;

describe("a benchmark", () => {
  it.each([[], ["--quick"]])("fails for a planted slow-down, with %j", (...flags) => {
    expect(bench(measured(""), ...flags)).toMatchObject({ status: 0 });
    const slow = bench(measured(SLOW), ...flags);
    expect(slow.status).toBe(1);
    expect(slow.said).toContain("MISSED");
  });

  it("fails for a figure that did not come out", () => {
    expect(judged({ ratio: Number.NaN })).toBe(1);
    expect(judged({ ratio: 0 })).toBe(1);
  });

  it("judges a figure that must not be small", () => {
    expect(judged({ ratio: 0.9, limit: 1 })).toBe(1);
    expect(judged({ ratio: 1.1, limit: 1 })).toBe(0);
  });

  it("judges the quick form at four times the limit, or at the slack that a row names", () => {
    expect(judged({ ratio: 3.9, limit: 1, atMost: true }, "--quick")).toBe(0);
    expect(judged({ ratio: 4.1, limit: 1, atMost: true }, "--quick")).toBe(1);
    expect(judged({ ratio: 1.6, limit: 1, atMost: true, slack: 1.5 }, "--quick")).toBe(1);
    expect(judged({ ratio: 0.24, limit: 1 }, "--quick")).toBe(1);
  });

  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("ends what it has started and removes its files on %s", async (signal, status) => {
    const script = `import { scratchDir, startNode } from ${at("measure.mjs")};
const child = startNode(["-e", "setInterval(() => {}, 1e6); console.log(0)"], { stdio: ["ignore", "pipe", "inherit"] });
child.stdout.on("data", () => console.log(JSON.stringify({ pid: child.pid, dir: scratchDir(".") })));`;
    const args = ["--input-type=module", "-e", script];
    const running = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    const ended = once(running, "exit");
    const [line] = await once(createInterface({ input: running.stdout }), "line");
    const { pid, dir } = JSON.parse(String(line)) as { pid: number; dir: string };
    expect(existsSync(dir)).toBe(true);
    running.kill(signal);
    expect(await ended).toEqual([status, null]);
    expect(existsSync(dir)).toBe(false);
    expect(isAlive(pid)).toBe(false);
  });
});
