import type { Clock } from "@slipway/kernel/clock";
import { backendOf } from "../cpis/choice.ts";
import type { Backend, BackendTools, HomeState } from "../cpis/descriptor.ts";
import type { Home } from "../home/home.ts";
import { infoOf, readRunning } from "./running.ts";

/** State of a home's cloud. */
export interface CloudStatus {
  /** `killed`: it ended without putting its things away. `silent`: its process is there and does not answer. */
  readonly director: "stopped" | "killed" | "starting" | "silent" | "running";
  readonly url: string | undefined;
  readonly pid: number | undefined;
  readonly since: number | undefined;
  readonly version: string | undefined;
  /** Problems that the Director reports about itself at present. */
  readonly problems: readonly string[];
  /** Upkeep of authorities and certificates that is still to be done. */
  readonly upkeep: readonly string[];
  /** Its process. */
  readonly database: number | undefined;
  readonly backend: Backend;
  readonly seen: HomeState;
}

const ANSWERS_WITHIN_MS = 3000;

/** Looks, and changes nothing. */
export async function statusOf(tools: BackendTools): Promise<CloudStatus> {
  const { home, clock } = tools;
  const backend = await backendOf(tools);
  const { databaseOf } = await import("@slipway/director/store/embedded/left-behind");
  const [director, database, seen] = await Promise.all([
    directorOf(home, clock),
    databaseOf(home.director),
    backend.look(),
  ]);
  return { ...director, database, backend, seen };
}

async function directorOf(home: Home, clock: Clock) {
  const nothing = {
    url: undefined,
    pid: undefined,
    since: undefined,
    version: undefined,
    problems: [],
    upkeep: [],
  };
  const seen = await readRunning(home);
  if (seen === undefined) return { ...nothing, director: "stopped" as const };
  if (seen.life === "dead") return { ...nothing, director: "killed" as const };
  const { reach, since } = seen;
  const known = {
    url: reach?.url,
    pid: seen.process.pid,
    since,
    version: undefined,
    problems: [],
    upkeep: [],
  };
  if (reach === undefined) return { ...known, director: "starting" as const };
  const info = await infoOf(reach, clock, ANSWERS_WITHIN_MS);
  if (info === undefined) return { ...known, director: "silent" as const };
  const { problems, upkeep } = info.slipway ?? {};
  const now = { problems: problems ?? [], upkeep: upkeep ?? [] };
  return { ...known, director: "running" as const, version: info.version, ...now };
}
