import { mkdir, readdir, readlink, rm, rmdir, symlink, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Clock } from "./clock.ts";
import { defineError, systemCode } from "./errors.ts";
import { type LifeSocket, lifeBySocket, openLifeSocket } from "./life-socket.ts";
import { type Liveness, lifeOf, ownIdentity, type ProcessIdentity } from "./process-identity.ts";
import { systemRandom } from "./random.ts";

export const LockTimeout = defineError<{ path: string; waitedMs: number; holder: string }>({
  code: "KER-001",
  kind: "outside",
  message: (p) =>
    `the lock ${p.path} was not free within ${(p.waitedMs / 1000).toFixed(1)} s; ${p.holder} holds it`,
  next: "Wait for that process or end it. A lock whose process is gone is taken over by itself. Only one of another pid namespace, on a file system without sockets or of an earlier version, has to be removed by hand once its container is gone.",
});

export interface LockFile {
  release(): Promise<void>;
}

export interface LockFileOptions {
  readonly clock: Clock;
  readonly waitMs: number;
  /** For an owner nobody here can see, such as one of a container; it may be gone for ever. Default: half a minute. */
  readonly waitForUnseenMs?: number;
  readonly signal?: AbortSignal | undefined;
}

const BREAK = ".break-";
/** Ends the name of the directory with the sockets of those who hold a lock or are about to. */
const LIVE = ".live";
const SOCKET_TRIES = 5;
const UNSEEN_MS = 30_000;

interface Owner extends ProcessIdentity {
  /** One acquisition, not one process: never used twice. */
  readonly nonce: string;
  /** There is a socket, named after the nonce, that listens as long as the owner lives. */
  readonly live?: boolean;
}

/**
 * A lock between processes that a crash cannot leave behind. It is a symbolic link whose target is not a path but the
 * owner's name: such a link appears whole or not at all, fails when there is one already, and whoever waits for it has
 * made no file that could stay. Whoever finds the owner dead removes the link while holding the break-lock of that one
 * acquisition, so that a slow finder can never remove the link of the next owner. Break-locks are locks of the same
 * kind and break the same way.
 *
 * A pid says nothing about an owner in another pid namespace, such as a container's. So an owner listens on a socket in
 * a directory beside the link while it holds the lock: the kernel closes the socket with the process. The next owner
 * removes the sockets of the dead.
 */
export async function acquireLock(path: string, options: LockFileOptions): Promise<LockFile> {
  const self: Owner = { ...ownIdentity(), nonce: systemRandom.hex(12) };
  const socket = await take(path, self, options);
  let held = true;
  return {
    release: async () => {
      if (!held) return;
      held = false;
      try {
        // An operator may have removed it, or the directory it was in.
        await unlink(path).catch((error: unknown) => {
          if (systemCode(error) !== "ENOENT") throw error;
        });
      } finally {
        await socket?.close();
      }
    },
  };
}

/** Tells whether the lock is free, or whether its holder lives. */
export async function lockLife(path: string): Promise<Liveness | "free"> {
  const owner = await readOwner(path);
  if (owner === undefined) return "free";
  return owner === "unreadable" ? "unknown" : await lifeOfOwner(path, owner);
}

/** Runs `work` while the lock is held. */
export async function withLock<T>(
  path: string,
  options: LockFileOptions,
  work: () => Promise<T>,
): Promise<T> {
  const lock = await acquireLock(path, options);
  try {
    return await work();
  } finally {
    await lock.release();
  }
}

async function take(path: string, self: Owner, options: LockFileOptions): Promise<LifeSocket | undefined> {
  const start = options.clock.monotonic();
  for (let delay = 2; ; delay = Math.min(delay * 1.5, 50)) {
    const owner = await readOwner(path);
    if (owner === undefined) {
      const made = await create(path, self);
      if (made.held) return made.socket;
      continue;
    }
    const life = owner === "unreadable" ? "unknown" : await lifeOfOwner(path, owner);
    if (owner !== "unreadable" && life === "dead") {
      await breakLock(path, owner, options);
      continue;
    }
    const waitedMs = options.clock.monotonic() - start;
    const unseenMs = options.waitForUnseenMs ?? UNSEEN_MS;
    if (waitedMs >= options.waitMs || (life === "unknown" && waitedMs >= unseenMs)) {
      throw LockTimeout({ path, waitedMs, holder: holderText(owner, self) });
    }
    await options.clock.sleep(delay * (0.5 + systemRandom.fraction()), options.signal);
  }
}

async function lifeOfOwner(path: string, owner: Owner): Promise<Liveness> {
  const life = lifeOf(owner, ownIdentity());
  return life === "unknown" && owner.live === true ? await lifeBySocket(socketOf(path, owner)) : life;
}

/** Returns the path of an owner's socket, with as much of the nonce as tells owners apart: such paths are short. */
const socketOf = (path: string, { nonce }: Owner): string => join(`${path}${LIVE}`, nonce.slice(0, 8));

function holderText(owner: Owner | "unreadable", self: Owner): string {
  if (owner === "unreadable") return "an unknown process";
  const elsewhere = owner.namespace === self.namespace ? "" : " of another pid namespace";
  return `process ${owner.pid}${elsewhere}`;
}

async function breakLock(path: string, dead: Owner, options: LockFileOptions): Promise<void> {
  await withLock(`${path}${BREAK}${dead.nonce}`, options, async () => {
    const now = await readOwner(path);
    if (now === undefined || now === "unreadable" || now.nonce !== dead.nonce) return;
    await unlink(path);
    await removeDeadSockets(path);
  });
  await sweep(path, options);
}

/** Breaks break-locks that a crash right after the breaking has left: nobody else comes across them. */
async function sweep(path: string, options: LockFileOptions): Promise<void> {
  const directory = dirname(path);
  for (const name of await readdir(directory)) {
    if (!name.startsWith(`${basename(path)}${BREAK}`)) continue;
    const left = join(directory, name);
    if (name.endsWith(LIVE)) {
      await removeDeadSockets(left.slice(0, -LIVE.length));
      continue;
    }
    const owner = await readOwner(left);
    if (owner !== undefined && owner !== "unreadable" && (await lifeOfOwner(left, owner)) === "dead")
      await breakLock(left, owner, options);
  }
}

/** Makes the link, unless there is one. The socket is there before it, and goes again if there was one. */
async function create(
  path: string,
  self: Owner,
): Promise<{ readonly held: boolean; readonly socket?: LifeSocket | undefined }> {
  const socket = await openSocket(path, self);
  try {
    await symlink(JSON.stringify(socket === undefined ? self : { ...self, live: true }), path);
  } catch (error) {
    await socket?.close();
    if (systemCode(error) === "EEXIST") return { held: false };
    throw error;
  }
  if (socket !== undefined) await removeDeadSockets(path);
  return { held: true, socket };
}

async function openSocket(path: string, self: Owner): Promise<LifeSocket | undefined> {
  const directory = `${path}${LIVE}`;
  for (let tries = 0; tries < SOCKET_TRIES; tries++) {
    await mkdir(directory).catch(() => undefined);
    const socket = await openLifeSocket(socketOf(path, self));
    if (socket !== undefined)
      return {
        close: async () => {
          await socket.close();
          await removeIfEmpty(directory);
        },
      };
    // Another owner may have removed the empty directory in between.
  }
  return undefined;
}

/** Removes the sockets of owners that were killed, also of those that never held the lock. */
async function removeDeadSockets(path: string): Promise<void> {
  const directory = `${path}${LIVE}`;
  for (const name of await readdir(directory).catch(() => [])) {
    const socket = join(directory, name);
    if ((await lifeBySocket(socket)) === "dead") await rm(socket, { force: true });
  }
  await removeIfEmpty(directory);
}

/** Leaves a directory alone that is in use, gone, or of another user. */
const removeIfEmpty = (directory: string): Promise<void> => rmdir(directory).catch(() => undefined);

async function readOwner(path: string): Promise<Owner | "unreadable" | undefined> {
  try {
    const owner = JSON.parse(await readlink(path)) as Partial<Owner> | null;
    const ours = typeof owner?.pid === "number" && /^[0-9a-f]{24}$/.test(String(owner.nonce));
    return ours ? (owner as Owner) : "unreadable";
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    // A file or directory of another making, or a link to somewhere.
    if (systemCode(error) === "EINVAL" || error instanceof SyntaxError) return "unreadable";
    throw error;
  }
}
