import { readFile, realpath } from "node:fs/promises";
import { resolve } from "node:path";
import type { Clock } from "@slipway/kernel/clock";
import { messageTrail, SlipwayError, systemCode } from "@slipway/kernel/errors";
import { acquireLock, type LockFile, LockTimeout } from "@slipway/kernel/lock-file";
import type pg from "pg";
import { ServerDied, StateDirInUse, StateUnusable } from "../errors.ts";
import { ensureAccess } from "./access.ts";
import { ensureData } from "./data.ts";
import { boundLog } from "./log.ts";
import { dataOwner, makeRoot, mustReach, places, socketDir } from "./places.ts";
import { connectionTo } from "./probe.ts";
import { serverPrograms } from "./programs.ts";
import { keepReserve } from "./reserve.ts";
import { type Running, type ServerSetup, startServer, stopServer } from "./server.ts";
import { type ServerUser, serverUser, usersOf } from "./user.ts";

export interface EmbeddedOptions {
  /** State directory of the Director. The server keeps to `database` in it. */
  readonly stateDir: string;
  readonly clock: Clock;
  /** Called whenever the server has ended or could not be started again; queries fail meanwhile. */
  readonly onLost?: (error: unknown) => void;
  /** File that the platform's package is resolved from. Default: the running program. */
  readonly from?: string;
  readonly startMs?: number;
  readonly stopMs?: number;
  /** False for throw-away databases: nothing is forced to disk. */
  readonly durable?: boolean;
  readonly settings?: Readonly<Record<string, string>>;
}

export interface Embedded {
  readonly connection: pg.PoolConfig;
  /** A server that a killed Director had left running was found and taken over. */
  readonly adopted: boolean;
  /** The server's process, at present. */
  readonly pid: () => number;
  /** Returns why the server does not run at present; undefined while it runs. */
  readonly trouble: () => string | undefined;
  readonly close: () => Promise<void>;
}

const LOG_CHECK_MS = 10 * 60_000;
/** Pauses between restarts: a server that dies once is restarted at once, one that keeps dying more and more seldom. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;
/** Uptime after which the server counts as steady. */
const STEADY_MS = 60_000;

/** Opens the PostgreSQL server that belongs to a state directory, for this process alone. */
export async function openEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const asRoot = process.getuid?.() === 0;
  await makeRoot(resolve(options.stateDir), asRoot);
  const stateDir = await realpath(options.stateDir);
  const lock = await lockState(stateDir, options.clock);
  try {
    const embedded = await serve(stateDir, options);
    return {
      ...embedded,
      close: async () => {
        try {
          await embedded.close();
        } finally {
          await lock.release();
        }
      },
    };
  } catch (error) {
    await lock.release();
    if (error instanceof SlipwayError || systemCode(error) === undefined) throw error;
    throw StateUnusable({ dir: stateDir, why: messageTrail(error) }, { cause: error });
  }
}

/** Holds a state directory for this process alone. */
export async function lockState(stateDir: string, clock: Clock): Promise<LockFile> {
  try {
    return await acquireLock(places(stateDir).lock, { clock, waitMs: 300, waitForUnseenMs: 300 });
  } catch (cause) {
    const busy = LockTimeout.paramsOf(cause);
    if (busy !== undefined) throw StateDirInUse({ dir: stateDir, holder: busy.holder }, { cause });
    throw StateUnusable({ dir: stateDir, why: messageTrail(cause) }, { cause });
  }
}

async function serve(stateDir: string, options: EmbeddedOptions): Promise<Embedded> {
  const at = places(stateDir);
  const user = await chooseUser(at.data);
  await mustReach(at.root, user);
  const durable = options.durable ?? true;
  const programs = await serverPrograms(at.root, user, options.from);
  await ensureData(at, programs, user, durable);
  const { clock, stopMs = 20_000 } = options;
  const password = await ensureAccess({ at, programs, user, clock, stopMs, durable });
  const setup: ServerSetup = {
    at,
    programs,
    user,
    access: { socket: await socketDir(at, user), password },
    clock,
    startMs: options.startMs ?? 60_000,
    stopMs,
    settings: {
      ...(durable ? {} : { fsync: "off", synchronous_commit: "off", full_page_writes: "off" }),
      ...options.settings,
    },
  };
  return supervise(setup, durable, options.onLost ?? (() => undefined));
}

async function chooseUser(data: string): Promise<ServerUser | undefined> {
  const self = process.getuid?.() ?? 1;
  const users = self === 0 ? usersOf(await readFile("/etc/passwd", "utf8")) : [];
  return serverUser({ self, users, data: await dataOwner(data) });
}

/** Keeps the server running until it is closed: one that dies, or cannot be started again, is tried for ever. */
async function supervise(
  setup: ServerSetup,
  durable: boolean,
  onLost: (error: unknown) => void,
): Promise<Embedded> {
  const closing = new AbortController();
  const first = await startServer(setup, closing.signal);
  let current: Promise<Running> = Promise.resolve(first);
  let pid = first.pid;
  let trouble: string | undefined;
  const { clock } = setup;
  const lost = (error: unknown) => {
    trouble = messageTrail(error);
    onLost(error);
  };
  const watch = async (): Promise<void> => {
    let running = first;
    let pause = 0;
    for (;;) {
      const since = clock.monotonic();
      const how = await running.ended;
      if (closing.signal.aborted) return;
      lost(ServerDied({ said: how }));
      if (clock.monotonic() - since >= STEADY_MS) pause = 0;
      for (let up = false; !up; ) {
        await clock.sleep(pause, closing.signal);
        pause = Math.min(Math.max(pause * 2, FIRST_PAUSE_MS), LONGEST_PAUSE_MS);
        current = startServer(setup, closing.signal);
        try {
          running = await current;
          up = true;
        } catch (error) {
          if (closing.signal.aborted) return;
          lost(error);
        }
      }
      pid = running.pid;
      trouble = undefined;
    }
  };
  void watch().catch((error: unknown) => {
    if (!closing.signal.aborted) lost(error);
  });
  void keepLogShort(setup, closing.signal).catch(() => undefined);
  if (durable) void keepReserve(setup.at.reserve, clock, closing.signal).catch(() => undefined);
  return {
    connection: connectionTo(setup.access),
    adopted: first.adopted,
    pid: () => pid,
    trouble: () => trouble,
    close: async () => {
      if (closing.signal.aborted) return;
      closing.abort(new Error("the embedded server is being closed"));
      const last = await current.catch(() => undefined);
      if (last !== undefined) await stopServer(last.pid, setup);
    },
  };
}

async function keepLogShort(setup: ServerSetup, signal: AbortSignal): Promise<void> {
  for (;;) {
    await setup.clock.sleep(LOG_CHECK_MS, signal);
    // The log is not worth an error; it is looked at again.
    await boundLog(setup.at.log).catch(() => undefined);
  }
}
