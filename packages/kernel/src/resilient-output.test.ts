import { closeSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { needs } from "@slipway/testkit/needs";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { systemExec } from "./exec.ts";
import { LOG_LIMIT_VARIABLE, logLimitOf, resilientOutput } from "./resilient-output.ts";

let dir: string;
beforeEach(async () => {
  const directory = await temporaryDirectory();
  dir = directory.path;
  return directory.remove;
});

function outputTo(path: string, flags = "a+") {
  const fd = openSync(path, flags);
  onTestFinished(() => closeSync(fd));
  const write = () => {
    throw new Error("a file is not written to through a stream");
  };
  return { fd, write };
}

it("a log file is kept below its limit by whoever writes to it; its newest lines stay, whole", () => {
  const path = join(dir, "log");
  const [one, two] = [outputTo(path), outputTo(path)];
  const outputs = [one, two].map((stream) => resilientOutput(stream, { limit: 4096 }));
  for (let nth = 0; nth < 1000; nth++) outputs[nth % 2]?.write(`line ${nth}\n`);
  const lines = readFileSync(path, "utf8").split("\n");
  expect(lines.join("\n").length).toBeLessThan(4096);
  expect(lines[0]).toBe("[older lines were left out]");
  expect(lines.slice(-3)).toEqual(["line 998", "line 999", ""]);
  expect(lines.slice(1, -1).every((line) => /^line \d+$/.test(line))).toBe(true);
  expect(lines.length).toBeGreaterThan(100);
});

it("without a limit nothing is cut off, and a file that cannot be read neither", () => {
  const streams = [outputTo(join(dir, "0")), outputTo(join(dir, "1"), "a")];
  const outputs = streams.map((stream, nth) =>
    resilientOutput(stream, { limit: nth === 0 ? undefined : 10 }),
  );
  for (const output of outputs) for (let nth = 0; nth < 50; nth++) output.write("0123456789\n");
  for (const name of ["0", "1"]) expect(readFileSync(join(dir, name)).length).toBe(550);
});

it("the limit comes from whoever owns the file", () => {
  expect(logLimitOf({})).toBeUndefined();
  expect(logLimitOf({ [LOG_LIMIT_VARIABLE]: "nonsense" })).toBeUndefined();
  expect(logLimitOf({ [LOG_LIMIT_VARIABLE]: "1024" })).toBe(1024);
});

it("a device that takes nothing fails nothing but the output", () => {
  const output = resilientOutput(outputTo("/dev/full", "w"), { limit: 10 });
  output.write("lost\n");
  expect(output.failed).toBe(true);
  const other = resilientOutput(outputTo("/dev/null", "w"), { limit: 10 });
  other.write("gone\n");
  expect(other.failed).toBe(false);
});

const root = needs("root-loop", process.getuid?.() === 0, "mounting a small disk needs root");

describe.runIf(root)("on a disk that is really full", () => {
  it("a line that cannot be written is counted, and the next one that can says so", async () => {
    const directory = await temporaryDirectory();
    onTestFinished(() => directory.remove());
    const small = join(directory.path, "small");
    await mkdir(small);
    expect((await systemExec("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", small])).code).toBe(0);
    onTestFinished(async () => void (await systemExec("umount", ["-l", small])));
    const path = join(small, "log");
    const output = resilientOutput(outputTo(path));
    output.write("before\n");
    try {
      writeFileSync(join(small, "fill"), Buffer.alloc(1 << 20));
    } catch {
      // Full.
    }
    const large = `${"x".repeat(5000)}\n`;
    output.write(large);
    output.write(large);
    expect(output.failed).toBe(true);
    rmSync(join(small, "fill"));
    output.write("after\n");
    expect(readFileSync(path, "utf8")).toMatch(
      /^before\n[x\n]*\[2 pieces of output could not be written\]\nafter\n$/,
    );
  });
});
