import { readFile, unlink } from "node:fs/promises";
import { writeFileAtomic } from "@slipway/kernel/atomic-file";
import { systemCode } from "@slipway/kernel/errors";
import { ifThere } from "@slipway/kernel/files";
import { lockLife } from "@slipway/kernel/lock-file";
import { type Life, lifeOf, ownIdentity } from "@slipway/kernel/process-identity";
import { matches } from "@slipway/protocol/schema/check";
import { integer, open, text } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import type { Home } from "../home/home.ts";
import { homeUnusable } from "../home/unusable.ts";
import { lockOf } from "./home-dir.ts";

const running = open({
  process: open({ pid: integer(1, "pid"), started: v.string(), boot: v.string(), namespace: v.string() }),
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
  const life = lifeOf(found.process, ownIdentity());
  return { ...found, life: life === "unknown" ? await lifeByLock(home) : life };
}

/** Of a process in another pid namespace, such as a container's: it holds the home's lock for as long as it runs. */
async function lifeByLock(home: Home): Promise<Life> {
  const life = await lockLife(lockOf(home));
  return life === "free" || life === "dead" ? "dead" : "unknown";
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
