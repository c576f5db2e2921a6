import { existsSync } from "node:fs";
import { systemCode } from "@slipway/kernel/errors";
import { lifeOf, ownIdentity } from "@slipway/kernel/process-identity";
import { backendOf } from "../cpis/choice.ts";
import { type Backend, type BackendTools, counted, type HomeState } from "../cpis/descriptor.ts";
import type { Tools } from "../tools.ts";
import { NotProven, WillNotEnd } from "./errors.ts";
import { lockHome } from "./home-dir.ts";
import { forgetRunning, readRunning } from "./running.ts";

/** Processes and VMs that `down` has stopped. */
export interface Stopped {
  /** Its process. */
  readonly director: number | undefined;
  /** Process of a killed Director's database; a Director that ends itself stops its own. */
  readonly database: number | undefined;
  readonly vms: number;
  /** VMs and disks seen before the stop. */
  readonly seen: HomeState;
  readonly backend: Backend;
}

const PATIENCE_S = 60;
const PAUSE_MS = 50;

/** Stops what a home runs: by asking its Director, or, where that was killed, what it left. */
export async function stopCloud(tools: BackendTools & Pick<Tools, "stop">): Promise<Stopped> {
  const { home, clock } = tools;
  const backend = await backendOf(tools);
  const seen = await backend.look();
  if (!existsSync(home.dir)) return { director: undefined, database: undefined, vms: 0, seen, backend };
  const director = await stopDirector(tools);
  const lock = await lockHome(home, clock);
  try {
    await forgetRunning(home);
    const { stopLeftDatabase } = await import("@slipway/director/store/embedded/left-behind");
    const database = await stopLeftDatabase(home.director, clock);
    await backend.stopVms();
    const vms = backend.outlives ? 0 : seen.vms.filter(({ running }) => running).length;
    return { director, database, vms, seen, backend };
  } finally {
    await lock.release();
  }
}

/** Asks the process once it is certain whose it is, and waits for its end. */
async function stopDirector({
  home,
  clock,
  stop,
}: Pick<Tools, "home" | "clock" | "stop">): Promise<number | undefined> {
  const seen = await readRunning(home);
  if (seen === undefined || seen.life === "dead") return undefined;
  const { pid } = seen.process;
  const doubt = (why: string, cause?: unknown) => NotProven({ pid, dir: home.dir, why }, { cause });
  if (seen.life === "unknown") throw doubt("it is of another pid namespace");
  if (seen.process.started === "") throw doubt("this system does not tell when it was started");
  try {
    process.kill(pid, "SIGTERM");
  } catch (cause) {
    if (systemCode(cause) !== "ESRCH") throw doubt("this user may not signal it", cause);
  }
  const end = clock.monotonic() + PATIENCE_S * 1000;
  while (lifeOf(seen.process, ownIdentity()) !== "dead") {
    if (clock.monotonic() > end) throw WillNotEnd({ pid, seconds: PATIENCE_S });
    await clock.sleep(PAUSE_MS, stop);
  }
  return pid;
}

/** Says which VMs still run after the stop. */
export function leftRunning(
  { outlives, words, engine }: Backend,
  { vms, trouble }: HomeState,
): readonly string[] {
  if (!outlives) return [];
  if (trouble !== undefined) return [`Whether ${words.many} run on is not known: ${trouble}.`];
  const running = vms.filter((vm) => vm.running).length;
  if (running === 0) return [];
  return [`${counted(running, words)} ${running === 1 ? "runs" : "run"} on, at ${engine}.`];
}

/** Resolves when it is time to stop. */
export function stopped(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
