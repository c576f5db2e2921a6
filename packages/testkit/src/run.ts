import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "@slipway/kernel/clock";
import { systemCode } from "@slipway/kernel/errors";
import { withLock } from "@slipway/kernel/lock-file";

/** Names the directory that the workers of one test run share. `global-setup.ts` makes it and removes it. */
export const RUN_VARIABLE = "SLIPWAY_TEST_RUN";

/** Undefined outside of a test run, as in a benchmark. */
export const runDirectory = (): string | undefined => process.env[RUN_VARIABLE];

/**
 * What takes time to make is made once per test run: by the worker that asks first, while the others wait for it. The
 * answer says where it is. A worker that dies while it makes the thing leaves it to the next.
 */
export async function oncePerRun(
  run: string,
  name: string,
  make: (name: string) => Promise<string>,
): Promise<string> {
  const answer = join(run, `${name}.made`);
  const before = await read(answer);
  if (before !== undefined) return before;
  const patient = { clock: systemClock, waitMs: Number.POSITIVE_INFINITY };
  return await withLock(join(run, `${name}.lock`), patient, async () => {
    const meanwhile = await read(answer);
    if (meanwhile !== undefined) return meanwhile;
    const made = await make(name);
    await writeFile(answer, made);
    return made;
  });
}

async function read(path: string): Promise<string | undefined> {
  try {
    const text = await readFile(path, "utf8");
    // Another worker is just writing it.
    return text === "" ? undefined : text;
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  }
}
