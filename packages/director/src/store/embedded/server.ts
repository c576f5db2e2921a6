import type { ChildProcess } from "node:child_process";
import { open, rm } from "node:fs/promises";
import { join, relative } from "node:path";
import type { Clock } from "@slipway/kernel/clock";
import { systemCode, toError } from "@slipway/kernel/errors";
import { lifeBySocket } from "@slipway/kernel/life-socket";
import { DiskFull, ServerElsewhere, StartFailed, WillNotStop } from "../errors.ts";
import { NO_SPACE } from "./data.ts";
import { boundLog, lastWords, logSize } from "./log.ts";
import { type Places, SOCKET_FILE } from "./places.ts";
import { asWritten, isPidFileStale, livingPostmaster, serves, startedWith, waitGone } from "./postmaster.ts";
import { answers, type ServerAccess } from "./probe.ts";
import type { Programs } from "./programs.ts";
import { spawnAs } from "./run-as.ts";
import type { ServerUser } from "./user.ts";

export interface ServerSetup {
  readonly at: Places;
  readonly programs: Programs;
  readonly user: ServerUser | undefined;
  readonly access: ServerAccess;
  readonly clock: Clock;
  /** Longest time for a start, recovery after a crash included. */
  readonly startMs: number;
  /** Longest time of a shutdown before it becomes an immediate one. */
  readonly stopMs: number;
  readonly settings: Readonly<Record<string, string>>;
}

export interface Running {
  readonly pid: number;
  readonly adopted: boolean;
  /** Resolves when it is no longer there, with why, or never. */
  readonly ended: Promise<string>;
}

const ENDS_WITHIN_MS = 1_000;

const argsOf = (setup: ServerSetup): string[] => {
  const settings: Record<string, string> = {
    listen_addresses: "",
    unix_socket_directories: socketsOf(setup),
    unix_socket_permissions: "0700",
    // A server of another version is not adopted but replaced.
    cluster_name: `slipway-${setup.programs.version}`,
    timezone: "UTC",
    log_timezone: "UTC",
    log_min_messages: "log",
    // Clients receive their own errors. Statements and row contents stay out of the log: they may hold secrets.
    log_min_error_statement: "panic",
    log_error_verbosity: "terse",
    logging_collector: "off",
    jit: "off",
    io_method: "sync",
    wal_level: "minimal",
    max_wal_senders: "0",
    max_wal_size: "256MB",
    max_parallel_workers_per_gather: "0",
    ...setup.settings,
  };
  return [
    "-D",
    setup.at.data,
    ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]),
  ];
};

/**
 * The directories of the server's sockets. One is always in the state directory, where another pid namespace finds it;
 * the server works in its data directory, so the relative path is never too long.
 */
const socketsOf = ({ at, access: { socket } }: ServerSetup): string =>
  socket === at.socket ? socket : `${socket},${relative(at.data, at.socket)}`;

/** Finds the server that a killed Director has left running, or starts one. */
export async function startServer(setup: ServerSetup, signal: AbortSignal): Promise<Running> {
  const { at, clock } = setup;
  const left = await livingPostmaster(at.data);
  if (left !== undefined) {
    const same = (await startedWith(at.data)) === asWritten(argsOf(setup));
    if (same && (await comesUp(setup, () => serves(left, at.data))))
      return { pid: left, adopted: true, ended: endOf(left, setup, signal) };
    await stopServer(left, setup);
  }
  await mustBeAlone(setup);
  const deadline = clock.monotonic() + setup.startMs;
  for (;;) {
    const tried = await launch(setup);
    if (tried.running !== undefined) return tried.running;
    if (NO_SPACE.test(tried.said)) throw DiskFull({ where: at.root });
    // The children of a killed server need a moment to end.
    const early = /pre-existing shared memory block|lock file "[^"\n]*" already exists/.test(tried.said);
    if (!early || clock.monotonic() >= deadline) throw StartFailed({ log: at.log, said: tried.said });
    await clock.sleep(50);
  }
}

/**
 * Refuses to start a second server beside one of another pid namespace: PostgreSQL looks for the first by its pid and its
 * shared memory, which a container hides, and two servers destroy the data.
 */
export async function mustBeAlone({ at, clock }: Pick<ServerSetup, "at" | "clock">): Promise<void> {
  const deadline = clock.monotonic() + ENDS_WITHIN_MS;
  // A server that is just ending may still listen.
  while ((await lifeBySocket(join(at.socket, SOCKET_FILE))) === "alive") {
    if (clock.monotonic() >= deadline) throw ServerElsewhere({ dir: at.data });
    await clock.sleep(50);
  }
}

async function launch(
  setup: ServerSetup,
): Promise<{ readonly running: Running } | { readonly running?: undefined; readonly said: string }> {
  const { at, programs, user } = setup;
  if (await isPidFileStale(at.data)) await rm(join(at.data, "postmaster.pid"), { force: true });
  await boundLog(at.log);
  const from = await logSize(at.log);
  const log = await openLog(at);
  let child: ChildProcess;
  let ended: Promise<string>;
  let end: string | undefined;
  try {
    child = spawnAs(programs, user, programs.postgres, argsOf(setup), log.fd);
    // Before anything is waited for: one that ends at once must not go unseen.
    ended = howItEnds(child);
    void ended.then((how) => {
      end = how;
    });
  } finally {
    await log.close();
  }
  // The server outlives us if need be; it does not keep us alive.
  child.unref();
  const up = await comesUp(setup, async () => end === undefined);
  if (up && child.pid !== undefined) return { running: { pid: child.pid, adopted: false, ended } };
  if (end === undefined && child.pid !== undefined) {
    await stopServer(child.pid, setup);
    return { said: `no answer within ${setup.startMs / 1000} s; ${await lastWords(at.log, from)}` };
  }
  return { said: child.pid === undefined ? await ended : `${end}; ${await lastWords(at.log, from)}` };
}

const howItEnds = (child: ChildProcess): Promise<string> =>
  new Promise((resolve) => {
    child.once("exit", (code, signal) =>
      resolve(signal === null ? `it ended with ${code}` : `killed by ${signal}`),
    );
    child.once("error", (error) => resolve(`it cannot be started: ${toError(error).message}`));
  });

async function openLog(at: Places) {
  try {
    return await open(at.log, "a", 0o600);
  } catch (cause) {
    if (systemCode(cause) === "ENOSPC") throw DiskFull({ where: at.root }, { cause });
    throw cause;
  }
}

/** Waits for the server. Returns true once it answers; false when it is gone or the time is up. */
async function comesUp(setup: ServerSetup, alive: () => Promise<boolean>): Promise<boolean> {
  const { clock } = setup;
  const end = clock.monotonic() + setup.startMs;
  for (let delay = 5; clock.monotonic() < end; delay = Math.min(delay * 1.5, 200)) {
    if (await answers(setup.access, setup.at.data)) return true;
    if (!(await alive())) return false;
    await clock.sleep(delay);
  }
  return false;
}

/** Waits for the end of a process. It is not our child, so no event announces it. */
async function endOf(pid: number, setup: ServerSetup, signal: AbortSignal): Promise<string> {
  try {
    while (await serves(pid, setup.at.data)) await setup.clock.sleep(500, signal);
    return "it ended";
  } catch (error) {
    if (signal.aborted) return "closed";
    throw error;
  }
}

/** Fast shutdown: connections are cut, everything is on disk. After the time an immediate one, which recovers later. */
export async function stopServer(
  pid: number,
  setup: Pick<ServerSetup, "at" | "clock" | "stopMs">,
): Promise<void> {
  const { at, clock } = setup;
  for (const [signal, ms] of [
    ["SIGINT", setup.stopMs],
    ["SIGQUIT", 10_000],
  ] as const) {
    if (!(await serves(pid, at.data))) return;
    try {
      process.kill(pid, signal);
    } catch (error) {
      if (systemCode(error) !== "ESRCH") throw error;
    }
    if (await waitGone(pid, at.data, ms, clock)) return;
  }
  throw WillNotStop({ pid });
}
