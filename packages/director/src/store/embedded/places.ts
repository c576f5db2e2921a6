import { chmod, chown, lstat, mkdir, mkdtemp, readFile, realpath, stat } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { writeFileAtomic } from "@slipway/kernel/atomic-file";
import { systemCode } from "@slipway/kernel/errors";
import { StateUnusable, Unreachable } from "../errors.ts";
import type { ServerAccess } from "./probe.ts";
import { blockerOf } from "./reach.ts";
import type { ServerUser } from "./user.ts";

/** Returns the paths of the embedded server. */
export const places = (stateDir: string) => {
  const root = join(stateDir, "database");
  return {
    lock: join(stateDir, "director.lock"),
    root,
    data: join(root, "data"),
    log: join(root, "server.log"),
    /** Password of the Director's role. */
    password: join(root, "password"),
    reserve: join(root, "reserve"),
    socket: join(root, "run"),
    /** Names the socket's directory when the one above is too deep. */
    socketNote: join(root, "run-elsewhere"),
  };
};
export type Places = ReturnType<typeof places>;

/**
 * Returns the default state directory. As root it is a system directory: the server's user must reach it, and a home is private.
 */
export const defaultStateDir = (uid: number, env: Readonly<Record<string, string | undefined>>): string =>
  uid === 0
    ? "/var/lib/slipway/director"
    : join(env.XDG_STATE_HOME || join(env.HOME || homedir(), ".local", "state"), "slipway", "director");

/** Length that fits a socket address, without the zero at its end. */
const LONGEST_SOCKET = process.platform === "darwin" ? 103 : 107;
/** Name of the server's socket in its directory. */
export const SOCKET_FILE = ".s.PGSQL.5432";
const fits = (dir: string) => Buffer.byteLength(join(dir, SOCKET_FILE)) <= LONGEST_SOCKET;

/** Makes the directories that are not there. Those that are keep their modes. */
export async function makeRoot(stateDir: string, asRoot: boolean): Promise<void> {
  try {
    for (const dir of [stateDir, places(stateDir).root]) {
      // As root, others may pass through but see nothing: the server's user must reach what is its own.
      const mode = asRoot ? 0o711 : 0o700;
      const first = await mkdir(dir, { recursive: true, mode });
      // What was made on the way too, whatever the umask.
      for (let at = dir; first !== undefined && at.length >= first.length; at = dirname(at))
        await chmod(at, mode);
    }
  } catch (cause) {
    throw StateUnusable({ dir: stateDir, why: systemCode(cause) ?? "unknown reason" }, { cause });
  }
}

export async function mustReach(dir: string, user: ServerUser | undefined): Promise<void> {
  const blocker = await blockerOf(dir, user);
  if (blocker !== undefined && user !== undefined) throw Unreachable({ dir, blocker, user: user.name });
}

/** A directory of the server's user alone. */
export async function makePrivate(dir: string, user: ServerUser | undefined): Promise<void> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  if (user !== undefined) await chown(dir, user.uid, user.gid);
  await chmod(dir, 0o700);
}

/** The directory of the socket: in the state directory or, where that is too deep, a private temporary one. */
export async function socketDir(at: Places, user: ServerUser | undefined): Promise<string> {
  await makePrivate(at.socket, user);
  if (fits(at.socket)) return at.socket;
  const noted = await readFile(at.socketNote, "utf8").catch((error: unknown) => {
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  });
  if (noted !== undefined && (await isOurs(noted, user))) return noted;
  const temporary = fits(join(tmpdir(), "slipway-XXXXXX")) ? tmpdir() : "/tmp";
  const dir = await mkdtemp(join(temporary, "slipway-"));
  await makePrivate(dir, user);
  await writeFileAtomic(at.socketNote, dir);
  return dir;
}

/** Socket and password of a server that runs already. */
export async function foundAccess(stateDir: string): Promise<ServerAccess> {
  const at = places(await realpath(stateDir));
  const socket = fits(at.socket) ? at.socket : await readFile(at.socketNote, "utf8");
  return { socket, password: await readFile(at.password, "utf8") };
}

/** Reports whether a directory is ours: temporary directories are open to all users. */
async function isOurs(dir: string, user: ServerUser | undefined): Promise<boolean> {
  try {
    const seen = await lstat(dir);
    return (
      seen.isDirectory() && seen.uid === (user?.uid ?? process.getuid?.()) && (seen.mode & 0o777) === 0o700
    );
  } catch {
    return false;
  }
}

/** Returns the owner of the data directory; undefined if it does not exist yet. */
export async function dataOwner(data: string) {
  try {
    const { uid, gid } = await stat(data);
    return { dir: data, uid, gid };
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  }
}
