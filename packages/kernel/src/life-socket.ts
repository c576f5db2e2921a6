import { open, rm } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import { basename, dirname, join } from "node:path";
import { systemCode } from "./errors.ts";
import type { Liveness } from "./process-identity.ts";

/**
 * A unix socket that shows other processes whether its owner is alive. The kernel stops accepting connections when the
 * owner ends, however it ends. A socket in a directory is found by its inode, so it is seen from every pid, user and
 * network namespace of this kernel that sees the directory; an abstract socket would not be.
 */
export interface LifeSocket {
  close(): Promise<void>;
}

/** Longest path of a unix socket, without the zero byte at its end. */
const LONGEST_PATH = process.platform === "darwin" ? 103 : 107;

/** Listens at `path`. Returns undefined if there can be no socket, such as on some network file systems. */
export async function openLifeSocket(path: string): Promise<LifeSocket | undefined> {
  const server = createServer((socket) => socket.destroy());
  try {
    const place = await reachable(path);
    try {
      await listening(server, place.path);
    } catch (error) {
      await place.close();
      throw error;
    }
    server.unref();
    return {
      close: async () => {
        await new Promise((resolve) => server.close(resolve));
        // The directory may have been renamed since.
        await rm(path, { force: true });
        await place.close();
      },
    };
  } catch {
    return undefined;
  }
}

/** Tells whether the owner of the socket at `path` is alive; unknown if there is no socket, or no right to connect. */
export async function lifeBySocket(path: string): Promise<Liveness> {
  const place = await reachable(path).catch(() => undefined);
  if (place === undefined) return "unknown";
  try {
    return await new Promise<Liveness>((resolve) => {
      const socket = connect(place.path);
      const answer = (life: Liveness) => {
        socket.destroy();
        resolve(life);
      };
      socket.once("connect", () => answer("alive"));
      // EAGAIN: the owner is there and has not accepted earlier connections yet.
      socket.once("error", (error) => {
        const code = systemCode(error);
        answer(code === "ECONNREFUSED" ? "dead" : code === "EAGAIN" ? "alive" : "unknown");
      });
    });
  } finally {
    await place.close();
  }
}

/** A path that is short enough: a long one is reached through the open directory. */
async function reachable(path: string): Promise<{ readonly path: string; close(): Promise<void> }> {
  if (Buffer.byteLength(path) <= LONGEST_PATH) return { path, close: () => Promise.resolve() };
  const directory = await open(dirname(path), "r");
  const short = join(`/proc/self/fd/${directory.fd}`, basename(path));
  if (Buffer.byteLength(short) <= LONGEST_PATH) return { path: short, close: () => directory.close() };
  // The system would cut it off, and make a socket of another name.
  await directory.close();
  throw new Error(`the name of the socket ${path} is too long`);
}

const listening = (server: Server, path: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, () => {
      server.off("error", reject);
      // An error later, such as no descriptors for a caller, changes nothing: the socket listens on.
      server.on("error", () => undefined);
      resolve();
    });
  });
