import { fractionsOf, rounds } from "@slipway/testkit/sample";
import { beforeAll, expect, test } from "vitest";
import { PASSWORD, put, settingsOf, tempDir } from "./testing/harness.ts";
import { bundleProgram, type RegistryProgram, startProgram, writeConfig } from "./testing/program.ts";

let script = "";
beforeAll(async () => {
  script = await bundleProgram();
});

const ROUNDS = rounds({ sample: 2, all: 8 });
const next = fractionsOf("durability");
const WRITERS = 4;

/** Values by id: the acknowledged one, then those sent since and never answered, which may have arrived or not. */
type Expected = Map<string, readonly string[]>;

async function verify(url: string, expected: Expected): Promise<void> {
  for (const [id, allowed] of expected) {
    const found = await settingsOf(url, id);
    expect(allowed).toContain(found ?? "nothing");
    expected.set(id, [found ?? "nothing"]);
  }
}

/** Writes from several connections; kills the program while others' puts are under way; ends when all have failed. */
async function writeUntilKilled(
  { url, child }: RegistryProgram,
  round: number,
  expected: Expected,
): Promise<void> {
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
  const config = await writeConfig(await tempDir());
  const program = await startProgram(script, config, 64);
  const settings = (i: number) => `${i} `.padEnd(i % 2 === 0 ? 10_000 : 100_000, "canary ");
  await put(program.url, "vm-1", "before");
  for (let i = 0; i < 6; i++)
    expect((await put(program.url, `vm-${i}`, settings(i))).status).toBe(i % 2 === 0 ? 200 : 500);
  const expected = ["vm-0", "vm-1", "vm-2", "vm-3", "vm-4", "vm-5"].map((id, i) =>
    id === "vm-1" ? "before" : i % 2 === 0 ? settings(i) : undefined,
  );
  const shown = (url: string) => Promise.all(expected.map((_, i) => settingsOf(url, `vm-${i}`)));
  expect(await shown(program.url)).toEqual(expected);
  await program.end("SIGKILL");
  expect(program.output()).toContain("REG-005");
  expect(program.output()).not.toContain("canary");

  const after = await startProgram(script, config);
  expect(await shown(after.url)).toEqual(expected);
  expect(after.output()).not.toContain(PASSWORD);
});
