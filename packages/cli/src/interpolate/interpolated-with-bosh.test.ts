import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@slipway/kernel/clock";
import { systemExec } from "@slipway/kernel/exec";
import { systemRandom } from "@slipway/kernel/random";
import { needs } from "@slipway/testkit/needs";
import { describe, expect, it } from "vitest";
import { interpolated } from "./interpolated.ts";
import { CASES } from "./testing/cases.ts";
import { ownDirectory } from "./testing/own-directory.ts";
import { argv, layOut } from "./testing/play.ts";
import { typedOptionsOf } from "./testing/typed-options.ts";

const bosh = process.env.SLIPWAY_BOSH ?? "";

const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  systemExec(bosh, args, { keep: 1024 * 1024, env: { HOME: tmpdir(), ...env } });

/** How the real CLI writes what it reads in a text. */
async function asBoshReads(text: string): Promise<string> {
  const file = join(await ownDirectory(), "text.yml");
  await writeFile(file, text);
  const { code, stdout, stderr } = await run(["interpolate", file]);
  expect(stderr).toBe("");
  expect(code).toBe(0);
  return stdout;
}

describe.runIf(needs("bosh-cli", bosh !== "", "SLIPWAY_BOSH names none"))(
  "interpolate and the real CLI",
  () => {
    it.each(CASES.map((one) => [one.name, one] as const))("%s", async (_, one) => {
      const laid = await layOut(one);
      const theirs = await run(argv(laid), one.env);
      const tools = { env: one.env ?? {}, clock: systemClock, random: systemRandom };
      const ours = interpolated(laid.document, typedOptionsOf(laid.options), tools);
      if ("error" in one.expected) {
        expect(theirs.code).toBe(1);
        await expect(ours).rejects.toThrow();
        return;
      }
      expect(theirs.code, theirs.stderr).toBe(0);
      const text = await ours;
      if (one.path !== undefined && typeof one.expected.value === "string") expect(text).toBe(theirs.stdout);
      else expect(await asBoshReads(text)).toBe(await asBoshReads(theirs.stdout));
    });
  },
);
