import { readFile, unlink } from "node:fs/promises";
import { writeFileAtomic } from "@slipway/kernel/atomic-file";
import { systemCode } from "@slipway/kernel/errors";
import { ifThere } from "@slipway/kernel/files";
import { type Life, lifeOf, ownIdentity } from "@slipway/kernel/process-identity";
import { matches } from "@slipway/protocol/schema/check";
import { integer, open, text } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import type { Home } from "../home/home.ts";
import { homeUnusable } from "../home/unusable.ts";

const running = open({
  process: open({ pid: integer(2, "pid"), started: v.string(), boot: v.string(), namespace: v.string() }),
  /** Milliseconds since 1970. */
  since: v.number(),
  /** Before it listens there is nothing to reach. */
  reach: v.optional(open({ url: text("url"), port: integer(1, "port"), caFile: text("caFile") })),
});
export type Running = v.InferOutput<typeof running>;
export type Reach = NonNullable<Running["reach"]>;

/** What the home's file says runs, and whether that process is alive. A file that cannot be read says nothing. */
export async function readRunning(home: Home): Promise<(Running & { readonly life: Life }) | undefined> {
  const source = await readFile(home.runFile, "utf8").catch(async (error: unknown) => {
    if (systemCode(error) === "ENOENT") return "";
    throw await homeUnusable(home, error);
  });
  const found = parsed(source);
  if (!matches(running, found)) return undefined;
  return { ...found, life: lifeOf(found.process, ownIdentity()) };
}

function parsed(source: string): unknown {
  try {
    return JSON.parse(source);
  } catch {
    return undefined;
  }
}

export function writeRunning(home: Home, since: number, reach?: Reach): Promise<void> {
  const now: Running = { process: { ...ownIdentity() }, since, ...(reach !== undefined && { reach }) };
  return writeFileAtomic(home.runFile, `${JSON.stringify(now)}\n`);
}

export async function forgetRunning(home: Home): Promise<void> {
  await ifThere(unlink(home.runFile));
}
