import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { syncDirectory, writeFileAtomic } from "@slipway/kernel/atomic-file";
import { type Clock, isoTime } from "@slipway/kernel/clock";
import { exists, ifThere } from "@slipway/kernel/files";
import { acquireLock, type LockFile, LockTimeout } from "@slipway/kernel/lock-file";
import type { DirectorConfig } from "@slipway/protocol/director/config-file";
import { stopLeftDatabase } from "../store/embedded/left-behind.ts";
import { places } from "../store/embedded/places.ts";
import { withClient } from "../store/embedded/probe.ts";
import { StateDirInUse } from "../store/errors.ts";
import { withDatabase } from "./database.ts";
import { RestoreRuns, StateThere } from "./errors.ts";
import type { Manifest } from "./format.ts";
import { load, mustFill } from "./load.ts";
import { type Backup, verified } from "./read.ts";
import { unpacked } from "./unpack.ts";

export interface RestoreOptions {
  readonly from: Backup;
  readonly stateDir: string;
  readonly config: DirectorConfig;
  /** Moves existing files aside, and keeps them. */
  readonly replace: boolean;
  /** Target paths of files beside the state directory, by their names in the backup. Existing files stay. */
  readonly beside: Readonly<Record<string, string>>;
  readonly clock: Clock;
}

export interface Restored {
  readonly manifest: Manifest;
  readonly movedTo: string | undefined;
  /** Files beside the state directory that were there already, and stay as they are. */
  readonly stayed: readonly string[];
}

const WAIT_MS = 300;
/** The Director's lock, and what belongs to it. */
const LOCK = /^director\.lock/;

/**
 * A Director's state from a backup. All of it is made beside the state directory, and gets its name when it is whole:
 * killed before, it has done nothing that the next attempt does not clear away.
 */
export async function restore(options: RestoreOptions): Promise<Restored> {
  const manifest = await verified(options.from);
  const stateDir = resolve(options.stateDir);
  await mkdir(dirname(stateDir), { recursive: true, mode: 0o711 });
  const lock = await locked(`${stateDir}.restore.lock`, options.clock, (holder) =>
    RestoreRuns({ dir: stateDir, holder }),
  );
  try {
    const old = await takeOld(stateDir, options);
    let inPlace = false;
    try {
      const fresh = `${stateDir}.restoring`;
      await clearAway(fresh, options.clock);
      const beside = await fill(fresh, manifest, options);
      const movedTo = await putInPlace(fresh, stateDir, old, options.clock);
      inPlace = true;
      return { manifest, movedTo, stayed: await placeBeside(beside, options) };
    } finally {
      // Afterwards the lock of that name is another's.
      if (!inPlace) await old?.release();
    }
  } finally {
    await lock.release();
  }
}

/** Holds what is to be moved aside; undefined when nothing is there. */
async function takeOld(stateDir: string, { replace, clock }: RestoreOptions): Promise<LockFile | undefined> {
  const names = ((await ifThere(readdir(stateDir))) ?? []).filter((name) => !LOCK.test(name));
  if (!(await exists(stateDir))) return undefined;
  const lock = await locked(places(stateDir).lock, clock, (holder) =>
    StateDirInUse({ dir: stateDir, holder }),
  );
  if (names.length > 0 && !replace) {
    await lock.release();
    const some = names.slice(0, 3).join(", ");
    throw StateThere({ dir: stateDir, names: names.length > 3 ? `${some}, ...` : some });
  }
  return lock;
}

async function clearAway(fresh: string, clock: Clock): Promise<void> {
  await stopLeftDatabase(fresh, clock);
  await rm(fresh, { recursive: true, force: true, maxRetries: 5 });
}

/** Resolves to the files that belong elsewhere. */
async function fill(
  fresh: string,
  manifest: Manifest,
  { from, config, clock }: RestoreOptions,
): Promise<ReadonlyMap<string, Buffer>> {
  await mkdir(fresh, { mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
  const beside = new Map<string, Buffer>();
  await withDatabase({ stateDir: fresh, config, clock }, (connection) =>
    withClient(connection, async (client) => {
      // Before anything is read: refused databases are refused at once.
      await mustFill(client, manifest);
      await load(client, manifest, unpacked(from, manifest, fresh, beside));
    }),
  );
  return beside;
}

async function putInPlace(
  fresh: string,
  stateDir: string,
  old: LockFile | undefined,
  clock: Clock,
): Promise<string | undefined> {
  const parent = dirname(stateDir);
  const there = old !== undefined && (await readdir(stateDir)).some((name) => !LOCK.test(name));
  let movedTo: string | undefined;
  if (there) {
    // Of a Director that was killed: it would go on writing below its new name.
    await stopLeftDatabase(stateDir, clock);
    const time = isoTime(clock).replace(/[-:]|\.\d+/g, "");
    movedTo = `${stateDir}.before-restore-${time}`;
    await rename(stateDir, movedTo);
    for (const name of (await readdir(movedTo)).filter((one) => LOCK.test(one)))
      await rm(join(movedTo, name), { recursive: true, force: true });
  } else if (old !== undefined) {
    await old.release();
  }
  // Takes the place of an empty directory.
  await rename(fresh, stateDir);
  await syncDirectory(parent);
  return movedTo;
}

async function placeBeside(
  found: ReadonlyMap<string, Buffer>,
  { beside }: RestoreOptions,
): Promise<readonly string[]> {
  const stayed: string[] = [];
  for (const [name, bytes] of found) {
    const path = beside[name];
    if (path === undefined) continue;
    if (await exists(path)) stayed.push(path);
    else await writeFileAtomic(path, bytes);
  }
  return stayed;
}

async function locked(path: string, clock: Clock, busy: (holder: string) => Error): Promise<LockFile> {
  try {
    return await acquireLock(path, { clock, waitMs: WAIT_MS, waitForUnseenMs: WAIT_MS });
  } catch (cause) {
    const held = LockTimeout.paramsOf(cause);
    throw held === undefined ? cause : busy(held.holder);
  }
}
