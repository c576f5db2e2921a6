import { readFile, unlink } from "node:fs/promises";
import { writeFileAtomic } from "@slipway/kernel/atomic-file";
import type { Clock } from "@slipway/kernel/clock";
import { systemCode } from "@slipway/kernel/errors";
import { ifThere } from "@slipway/kernel/files";
import { lockLife } from "@slipway/kernel/lock-file";
import { type Liveness, lifeOf, ownIdentity } from "@slipway/kernel/process-identity";
import { parseStrictJson } from "@slipway/kernel/strict-json";
import { matches } from "@slipway/protocol/schema/check";
import { integer, open, text } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import type { Home } from "../home/home.ts";
import { homeUnusable } from "../home/unusable-home.ts";
import type { Tools } from "../tools.ts";
import { NotAnswering, RunsElsewhere } from "./errors.ts";
import { lockOf } from "./home-dir.ts";

const running = open({
  process: open({ pid: integer(1, "pid"), started: v.string(), boot: v.string(), namespace: v.string() }),
  /** Milliseconds since 1970. */
  since: v.number(),
  /** Before it listens there is nothing to reach. */
  reach: v.optional(open({ url: text("url"), port: integer(1, "port"), caFile: text("caFile") })),
});
export type RunningFile = v.InferOutput<typeof running>;
export type Reach = NonNullable<RunningFile["reach"]>;

/** Reads which Director the home's file names, and whether that process is alive. An invalid file counts as absent. */
export async function readRunning(
  home: Home,
): Promise<(RunningFile & { readonly life: Liveness }) | undefined> {
  const source = await readFile(home.runFile, "utf8").catch(async (error: unknown) => {
    if (systemCode(error) === "ENOENT") return "";
    throw await homeUnusable(home, error);
  });
  const found = parsed(source);
  if (!matches(running, found)) return undefined;
  const life = lifeOf(found.process, ownIdentity());
  return { ...found, life: life === "unknown" ? await lifeByLock(home) : life };
}

/** Judges a process in another pid namespace, such as a container's, by the home's lock, which it holds while it runs. */
async function lifeByLock(home: Home): Promise<Liveness> {
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
  const now: RunningFile = { process: { ...ownIdentity() }, since, ...(reach !== undefined && { reach }) };
  return writeFileAtomic(home.runFile, `${JSON.stringify(now)}\n`);
}

export async function forgetRunning(home: Home): Promise<void> {
  await ifThere(unlink(home.runFile));
}

const texts = v.nullish(v.array(v.string()));
const info = open({
  name: text("name"),
  uuid: text("uuid"),
  version: text("version"),
  slipway: v.nullish(open({ problems: texts, upkeep: texts })),
});
export type DirectorInfo = v.InferOutput<typeof info>;

/** Returns the Director's information; undefined without an answer from one that our authority has certified. */
export async function infoOf(reach: Reach, clock: Clock, withinMs = 5000): Promise<DirectorInfo | undefined> {
  const ca = await readFile(reach.caFile, "utf8").catch(() => undefined);
  if (ca === undefined) return undefined;
  const { DirectorWire } = await import("../api/wire.ts");
  const late = new AbortController();
  const cancel = clock.after(withinMs, () => late.abort());
  const nobody = { user: undefined, password: undefined };
  const wire = new DirectorWire({ url: reach.url, ca, ...nobody, clock, stop: late.signal, attempts: 1 });
  try {
    const { body } = await wire.send({ method: "GET", path: "/info", headers: {} });
    const answer = parseStrictJson(body.toString("utf8"), "/info");
    return matches(info, answer) ? answer : undefined;
  } catch {
    return undefined;
  } finally {
    cancel();
    wire.close();
  }
}

/** A Director of this home that runs in another process. */
export interface RunningDirector {
  readonly pid: number;
  readonly since: number;
  readonly reach: Reach;
  readonly info: DirectorInfo;
}

const STARTS_WITHIN_MS = 90_000;
const ANSWERS_WITHIN_MS = 15_000;
const PAUSE_MS = 50;

/**
 * The one that runs already, healthy. One that is just starting is waited for; one that is there and does not answer is
 * an error. Undefined when none runs.
 */
export async function findCloud(
  { home, clock, stop }: Pick<Tools, "home" | "clock" | "stop">,
  wanted?: number,
): Promise<RunningDirector | undefined> {
  const begun = clock.monotonic();
  for (;;) {
    const seen = await readRunning(home);
    if (seen === undefined || seen.life === "dead") return undefined;
    const { reach, since } = seen;
    const { pid } = seen.process;
    if (reach !== undefined && wanted !== undefined && wanted !== 0 && wanted !== reach.port)
      throw RunsElsewhere({ url: reach.url, pid, port: wanted });
    const info = reach && (await infoOf(reach, clock));
    if (reach !== undefined && info !== undefined) return { pid, since, reach, info };
    const patience = reach === undefined ? STARTS_WITHIN_MS : ANSWERS_WITHIN_MS;
    if (clock.monotonic() - begun > patience)
      throw NotAnswering({ pid, url: reach?.url ?? "any address yet" });
    await clock.sleep(PAUSE_MS, stop);
  }
}
