import { stat } from "node:fs/promises";
import { join } from "node:path";
import { fractionsOf, rounds } from "@slipway/testkit/sample";
import { beforeAll, expect, test } from "vitest";
import { PASSWORD, put, settingsOf, tempDir } from "./testing/harness.ts";
import { bundleProgram, type Program, startProgram, writeConfig } from "./testing/program.ts";

let script = "";
beforeAll(async () => {
  script = await bundleProgram();
});

const ROUNDS = rounds({ sample: 2, all: 8 });
const next = fractionsOf("durability");
const WRITERS = 4;

/** What was acknowledged, and behind it what was sent since and never answered: that may have arrived or not. */
type Expected = Map<string, readonly string[]>;

async function verify(url: string, expected: Expected): Promise<void> {
  for (const [id, allowed] of expected) {
    const found = await settingsOf(url, id);
    expect(allowed).toContain(found ?? "nothing");
    expected.set(id, [found ?? "nothing"]);
  }
}

/** Writes from several connections; kills the program while others' puts are under way; ends when all have failed. */
async function writeUntilKilled({ url, child }: Program, round: number, expected: Expected): Promise<void> {
  let number = 0;
  let left = 1 + Math.floor(next() * 80);
  const writer = async (name: string) => {
    for (;;) {
      const id = `${name}-${number++ % 7}`;
      const settings = JSON.stringify({ round, number, filler: "x".repeat((number * 37) % 3000) });
      expected.set(id, [...(expected.get(id) ?? ["nothing"]), settings]);
      const got = await put(url, id, settings).catch(() => undefined);
      if (got === undefined) return;
      expect(got.status).toBe(200);
      expected.set(id, [settings]);
      if (--left === 0) child.kill("SIGKILL");
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, (_, i) => writer(`writer-${i}`)));
}

test("every acknowledged put survives kill -9 at any moment", async () => {
  const config = await writeConfig(await tempDir());
  const expected: Expected = new Map();
  for (let round = 0; round < ROUNDS; round++) {
    const program = await startProgram(script, config);
    await verify(program.url, expected);
    await writeUntilKilled(program, round, expected);
    expect((await program.end("SIGKILL")).signal).toBe("SIGKILL");
  }
  const program = await startProgram(script, config);
  await verify(program.url, expected);
  expect(expected.size).toBeGreaterThan(0);
});

test("when the disk takes no more, puts are refused, reads go on, and what was acknowledged is there later", async () => {
  const dir = await tempDir();
  const config = await writeConfig(dir);
  const program = await startProgram(script, config, 64);
  const settings = (i: number) => `${i} `.padEnd(10_000, "canary ");
  const statuses: number[] = [];
  for (let i = 0; i < 12; i++) statuses.push((await put(program.url, `vm-${i}`, settings(i))).status);
  const kept = statuses.filter((status) => status === 200).length;
  expect(statuses).toEqual([...Array(kept).fill(200), ...Array(12 - kept).fill(500)]);
  expect(kept).toBeGreaterThan(0);
  expect(kept).toBeLessThan(12);
  expect(await settingsOf(program.url, "vm-0")).toBe(settings(0));
  expect(await settingsOf(program.url, "vm-11")).toBeUndefined();
  // A short one still fits: the part of a record that did fit was taken back.
  expect((await put(program.url, "small", "1")).status).toBe(200);
  expect((await stat(join(dir, "state", "registry.log"))).size).toBeLessThanOrEqual(64 << 10);
  await program.end("SIGKILL");
  expect(program.output()).toContain("REG-005");
  expect(program.output()).not.toContain("canary");

  const after = await startProgram(script, config);
  expect(after.output()).not.toContain("incomplete");
  for (let i = 0; i < 12; i++)
    expect(await settingsOf(after.url, `vm-${i}`)).toBe(i < kept ? settings(i) : undefined);
  expect(await settingsOf(after.url, "small")).toBe("1");
  expect(after.output()).not.toContain(PASSWORD);
});
