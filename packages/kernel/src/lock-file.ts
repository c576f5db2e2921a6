import { readdir, readlink, symlink, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Clock } from "./clock.ts";
import { defineError, systemCode } from "./errors.ts";
import { lifeOf, ownIdentity, type ProcessIdentity } from "./process-identity.ts";
import { systemRandom } from "./random.ts";

export const LockTimeout = defineError<{ path: string; waitedMs: number; holder: string }>({
  code: "KER-001",
  kind: "outside",
  message: (p) =>
    `the lock ${p.path} was not free within ${(p.waitedMs / 1000).toFixed(1)} s; ${p.holder} holds it`,
  next: "Wait for that process or end it. A lock whose process is gone is taken over by itself, unless it ran in a container: if that one is gone, remove the lock.",
});

export interface Lock {
  release(): Promise<void>;
}

export interface LockOptions {
  readonly clock: Clock;
  readonly waitMs: number;
  /** For an owner nobody here can see, such as one of a container; it may be gone for ever. Default: half a minute. */
  readonly waitForUnseenMs?: number;
  readonly signal?: AbortSignal | undefined;
}

const BREAK = ".break-";
const UNSEEN_MS = 30_000;

interface Owner extends ProcessIdentity {
  /** One acquisition, not one process: never used twice. */
  readonly nonce: string;
}

/**
 * A lock between processes that a crash cannot leave behind. It is a symbolic link whose target is not a path but the
 * owner's name: such a link appears whole or not at all, fails when there is one already, and whoever waits for it has
 * made no file that could stay. Whoever finds the owner dead removes the link while holding the break-lock of that one
 * acquisition, so that a slow finder can never remove the link of the next owner. Break-locks are locks of the same
 * kind and break the same way.
 */
export async function acquireLock(path: string, options: LockOptions): Promise<Lock> {
  const self: Owner = { ...ownIdentity(), nonce: systemRandom.hex(12) };
  await take(path, self, options);
  let held = true;
  return {
    release: async () => {
      if (!held) return;
      held = false;
      // An operator may have removed it, or the directory it was in.
      await unlink(path).catch((error: unknown) => {
        if (systemCode(error) !== "ENOENT") throw error;
      });
    },
  };
}

/** Runs `work` while the lock is held. */
export async function withLock<T>(path: string, options: LockOptions, work: () => Promise<T>): Promise<T> {
  const lock = await acquireLock(path, options);
  try {
    return await work();
  } finally {
    await lock.release();
  }
}

async function take(path: string, self: Owner, options: LockOptions): Promise<void> {
  const start = options.clock.monotonic();
  for (let delay = 2; ; delay = Math.min(delay * 1.5, 50)) {
    if (await created(path, self)) return;
    const owner = await readOwner(path);
    if (owner === undefined) continue;
    const life = owner === "unreadable" ? "unknown" : lifeOf(owner, self);
    if (owner !== "unreadable" && life === "dead") {
      await breakLock(path, owner, options);
      continue;
    }
    const waitedMs = options.clock.monotonic() - start;
    const unseenMs = options.waitForUnseenMs ?? UNSEEN_MS;
    if (waitedMs >= options.waitMs || (life === "unknown" && waitedMs >= unseenMs)) {
      throw LockTimeout({ path, waitedMs, holder: holderText(owner, life) });
    }
    await options.clock.sleep(delay * (0.5 + systemRandom.fraction()), options.signal);
  }
}

function holderText(owner: Owner | "unreadable", life: string): string {
  if (owner === "unreadable") return "an unknown process";
  return life === "unknown" ? `process ${owner.pid} of another pid namespace` : `process ${owner.pid}`;
}

async function breakLock(path: string, dead: Owner, options: LockOptions): Promise<void> {
  await withLock(`${path}${BREAK}${dead.nonce}`, options, async () => {
    const now = await readOwner(path);
    if (now !== undefined && now !== "unreadable" && now.nonce === dead.nonce) await unlink(path);
  });
  await sweep(path, options);
}

/** Breaks break-locks that a crash right after the breaking has left: nobody else comes across them. */
async function sweep(path: string, options: LockOptions): Promise<void> {
  const directory = dirname(path);
  for (const name of await readdir(directory)) {
    if (!name.startsWith(`${basename(path)}${BREAK}`)) continue;
    const left = join(directory, name);
    const owner = await readOwner(left);
    if (owner !== undefined && owner !== "unreadable" && lifeOf(owner, ownIdentity()) === "dead")
      await breakLock(left, owner, options);
  }
}

async function created(path: string, self: Owner): Promise<boolean> {
  try {
    await symlink(JSON.stringify(self), path);
    return true;
  } catch (error) {
    if (systemCode(error) === "EEXIST") return false;
    throw error;
  }
}

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
