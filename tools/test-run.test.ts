import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const PASSES = 'it("adds", () => expect(1 + 1).toBe(2));';
const FAILS = 'it("never holds", () => expect(1).toBe(2));';
/** Fails until a file beside it is there, which its first run makes. */
const FLAKY = `
import { existsSync, writeFileSync } from "node:fs";
it("holds the second time", () => {
  const made = import.meta.filename + ".made";
  const there = existsSync(made);
  writeFileSync(made, "");
  expect(there).toBe(true);
});
it("holds each time", () => {});`;

describe("a run of the tests", () => {
  let dir: string;
  let remove: () => Promise<void>;

  beforeEach(async () => {
    ({ path: dir, remove } = await temporaryDirectory());
    const config = { test: { globals: true, reporters: [join(process.cwd(), "tools/closing-line.ts")] } };
    writeFileSync(join(dir, "vitest.config.mjs"), `export default ${JSON.stringify(config)};`);
  });
  afterEach(() => remove());

  async function run(
    files: Readonly<Record<string, string>>,
    program: readonly string[] = ["tools/test-run.mjs"],
  ): Promise<{ code: unknown; lines: string[] }> {
    for (const [name, source] of Object.entries(files)) writeFileSync(join(dir, `${name}.test.mjs`), source);
    const child = spawn(process.execPath, [...program, "--root", dir], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    const code = new Promise((resolve) => child.on("close", resolve));
    const output = await text(child.stdout);
    return { code: await code, lines: output.trim().split("\n") };
  }

  it("counts what passed", async () => {
    const { code, lines } = await run({ sums: PASSES });
    expect({ code, last: lines.at(-1) }).toEqual({ code: 0, last: "1 passed, 0 failed" });
  });

  it("names a file that passes when it is run alone, and succeeds", async () => {
    const { code, lines } = await run({ sums: PASSES, moody: FLAKY });
    expect(lines).toContainEqual(expect.stringMatching(/^FLAKY .*moody\.test\.mjs: holds the second time$/));
    expect({ code, last: lines.at(-1) }).toEqual({ code: 0, last: "3 passed, 0 failed" });
  });

  it("fails when a file fails twice, and still names the flaky one", async () => {
    const { code, lines } = await run({ broken: FAILS, moody: FLAKY });
    expect(lines.filter((line) => line.startsWith("FLAKY"))).toHaveLength(1);
    expect({ code, last: lines.at(-1) }).toEqual({ code: 1, last: "2 passed, 1 failed" });
  });

  it("fails when a file cannot be loaded", async () => {
    const { code, lines } = await run({ absent: 'import "./missing.mjs";' });
    expect({ code, last: lines.at(-1) }).toEqual({ code: 1, last: "0 passed, 1 failed" });
  });

  it("fails on an error outside of all tests", async () => {
    const { code, lines } = await run({
      late: 'it("ends", () => { void Promise.reject(new Error("later")); });',
    });
    expect({ code, last: lines.at(-1) }).toEqual({ code: 1, last: "1 passed, 1 failed" });
  });

  it("tries no more than five files again", async () => {
    const six = Object.fromEntries(Array.from({ length: 6 }, (_, at) => [`moody-${at}`, FLAKY]));
    const { code, lines } = await run(six);
    expect(lines).not.toContainEqual(expect.stringMatching(/^FLAKY/));
    expect({ code, last: lines.at(-1) }).toEqual({ code: 1, last: "6 passed, 6 failed" });
  });

  describe("with new seeds", () => {
    const RANDOM = ["tools/test-random.mjs", "--minutes", "0.0001"];

    it("ends when its minutes are over", async () => {
      const { code, lines } = await run({ sums: PASSES }, RANDOM);
      expect({ code, last: lines.at(-1) }).toEqual({ code: 0, last: "1 run(s) with new seeds passed" });
    });

    it("says how to repeat a run that failed", async () => {
      const { code, lines } = await run({ broken: FAILS }, RANDOM);
      expect({ code, last: lines.at(-1) }).toEqual({
        code: 1,
        last: expect.stringMatching(/^ {2}SLIPWAY_SEED=[0-9a-f]{8} npm test -- --root /),
      });
    });
  });
});
