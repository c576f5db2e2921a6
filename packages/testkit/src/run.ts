import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomic } from "@slipway/kernel/atomic-file";
import { systemClock } from "@slipway/kernel/clock";
import { systemCode } from "@slipway/kernel/errors";
import { withLock } from "@slipway/kernel/lock-file";
import { RUN_VARIABLE } from "./sample.ts";

/**
 * Makes a thing once per test run: by the worker that asks first, while the others wait for it.
 * `make` gets a path of its own and answers where the thing is. A worker that dies while it makes the thing leaves it
 * to the next.
 */
export async function oncePerRun(name: string, make: (place: string) => Promise<string>): Promise<string> {
  const run = process.env[RUN_VARIABLE];
  if (run === undefined) throw new Error(`${name} is made in test runs only: npm test`);
  const answer = join(run, `${name}.made`);
  const before = await read(answer);
  if (before !== undefined) return before;
  const patient = { clock: systemClock, waitMs: Number.POSITIVE_INFINITY };
  return await withLock(join(run, `${name}.lock`), patient, async () => {
    const meanwhile = await read(answer);
    if (meanwhile !== undefined) return meanwhile;
    const place = join(run, name);
    await rm(place, { recursive: true, force: true });
    const made = await make(place);
    await writeFileAtomic(answer, made);
    return made;
  });
}

async function read(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  }
}
